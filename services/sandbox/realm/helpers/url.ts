/** URL and URLSearchParams, by the reference implementation of the URL standard. */
export { URL, URLSearchParams } from 'whatwg-url';
