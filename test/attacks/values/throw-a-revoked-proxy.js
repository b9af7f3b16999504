// Ends: ERROR
// Readable: yes
throw (() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })();
