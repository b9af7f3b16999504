/** The words of app calls as values. The reference core knows the services by their protocol alone. */

export type CapabilityKind = 'tool' | 'resource' | 'resourceTemplate' | 'prompt';

/** Where a binding comes from: fixed when the run starts. */
export interface Source {
  readonly connectionId: string;
  readonly connectionName: string;
  readonly kind: CapabilityKind;
  /** The app's own name; of a resource its URI, of a template its URI template. */
  readonly name: string;
}

/** Why an app call failed, as a program sees it. */
export type CallFailureReason =
  | 'ToolError'
  | 'Timeout'
  | 'Unavailable'
  | 'InvalidArguments'
  | 'NotFound'
  | 'OutcomeUnknown'
  | 'ResultTooLarge'
  | 'Cancelled'
  | 'Internal';

/** What came of a call. */
export type Outcome =
  | { readonly tag: 'Completed'; readonly valueJson: string }
  | { readonly tag: 'Failed'; readonly reason: CallFailureReason; readonly message: string }
  | { readonly tag: 'Denied'; readonly message: string }
  | { readonly tag: 'InputRequired'; readonly operationId: string };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
