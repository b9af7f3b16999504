/** How the command line ends. */

/** Exit statuses, as --help lists them. */
export const exitStatus = {
  ok: 0,
  /** The run failed or was cancelled. */
  runFailed: 1,
  /** The command or a configuration is wrong. */
  usage: 2,
  /** A service or an app could not be reached. */
  unavailable: 3,
  /** The run waits for a decision, and there is nobody to ask. */
  waiting: 4,
} as const;

export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

/** A command that cannot go on; its message is for the person in front of the terminal. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly status: ExitStatus;

  constructor(status: ExitStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
