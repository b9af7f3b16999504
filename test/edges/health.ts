/** The gRPC health service of a server, asked for one status at a time. */
import { credentials } from '@grpc/grpc-js';
import { Health, HealthCheckResponse_ServingStatus as Status } from '../../gen/grpc/health/v1/health_pb.js';
import { createClient, openChannel } from '../../services/shared/grpc/client.ts';

export { Status };

/** Without the stream of the health service, which our clients do not have. */
export function healthOf(address: string) {
  const channel = openChannel(address, credentials.createInsecure());
  const { check } = Health.method;
  const client = createClient({ typeName: Health.typeName, method: { check } }, channel);
  const status = async (service: string) => (await client.check({ service })).status;
  return { status, close: () => channel.close() };
}
