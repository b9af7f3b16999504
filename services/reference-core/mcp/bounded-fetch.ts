/** fetch that ends an answer to a POST with an error once it is larger than any message may be. */
import type { FetchLike } from '@modelcontextprotocol/client';
import { limits } from '../../shared/limits.ts';

export const boundedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init);
  // A GET is the stream of notifications of the whole session; its messages are small and never end.
  if (init?.method !== 'POST' || response.body === null) return response;
  let received = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        received += chunk.byteLength;
        if (received <= limits.grpcMessageBytesMax) controller.enqueue(chunk);
        else controller.error(new Error(`the answer is larger than ${limits.grpcMessageBytesMax} bytes`));
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
};
