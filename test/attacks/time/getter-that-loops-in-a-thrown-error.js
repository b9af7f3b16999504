// Ends: TIMEOUT
throw { get name() { for (;;); }, get message() { for (;;); } };
