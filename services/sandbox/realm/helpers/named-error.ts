/** An Error with a name of the web's DOMException, which does not exist here. */
export function named(name: string, message: string): Error {
  const error = new Error(message);
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  return error;
}
