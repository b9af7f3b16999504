/** Why a server cannot listen, in words that name the setting to change. */
const words: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'it is no address of this machine',
  ENOTFOUND: 'there is no such host',
  EACCES: 'this user may not use it',
  ENOENT: 'its folder does not exist',
};

/** `setting`: the variable that holds the address. */
export function listenProblem(address: string, setting: string | undefined, cause: Error): Error {
  // gRPC puts the errors of all that an address stands for into the text of one.
  const code = Object.keys(words).find((one) => cause.message.includes(one));
  const why = (code !== undefined && words[code]) || cause.message;
  const fix = setting === undefined ? '' : `; ${setting} names another`;
  return new Error(`cannot listen on ${address}: ${why}${fix}`, { cause });
}
