/**
 * Server reflection (v1 and v1alpha) from the generated descriptors, so that grpcurl needs no .proto file.
 * The types of error details are there too: clients then show field violations as text.
 */
import { type DescFile, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { Server } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { file_google_rpc_error_details } from '../../../gen/google/rpc/error_details_pb.js';
import { Health } from '../../../gen/grpc/health/v1/health_pb.js';

interface ReflectedService {
  readonly typeName: string;
  readonly file: DescFile;
}

export function addReflection(server: Server, services: readonly ReflectedService[]): void {
  const files = new Map<string, Buffer>();
  for (const file of [
    ...services.map((service) => service.file),
    Health.file,
    file_google_rpc_error_details,
  ]) {
    collect(file, files);
  }
  // The package reads nothing of a definition but its file descriptors.
  const definition = {
    all: {
      format: 'Protocol Buffer 3 EnumDescriptorProto' as const,
      type: {},
      fileDescriptorProtos: [...files.values()],
    },
  };
  new ReflectionService(definition).addToServer(server);
}

function collect(file: DescFile, into: Map<string, Buffer>): void {
  if (into.has(file.proto.name)) return;
  into.set(file.proto.name, Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)));
  for (const dependency of file.dependencies) collect(dependency, into);
}
