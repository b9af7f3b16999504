/** The gRPC health service: one status for each service by name, and "" for the server as a whole. */
import type { Server } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';

export class Health {
  readonly #services: readonly string[];
  readonly #implementation: HealthImplementation;

  /** Nothing serves until `set` says so. */
  constructor(services: readonly { readonly typeName: string }[]) {
    this.#services = services.map((service) => service.typeName);
    this.#implementation = new HealthImplementation(
      Object.fromEntries(['', ...this.#services].map((name) => [name, 'NOT_SERVING'])),
    );
  }

  addToServer(server: Server): void {
    this.#implementation.addToServer(server);
  }

  /** Sets every service and the server as a whole. */
  setAll(serving: boolean): void {
    for (const name of ['', ...this.#services]) this.set(name, serving);
  }

  set(service: string, serving: boolean): void {
    this.#implementation.setStatus(service, serving ? 'SERVING' : 'NOT_SERVING');
  }
}
