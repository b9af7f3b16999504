/**
 * Every limit of the product, in one place. Units are in the names. A limit is checked before anything is
 * buffered for it. Relations between limits are asserted at the end of this file.
 */
import assert from 'node:assert/strict';

const KiB = 1024;
const MiB = 1024 * KiB;

/** Ranges of the platform's settings; a run keeps the values it started with. */
export const settingRanges = {
  timeoutMs: { min: 100, max: 600_000, initial: 30_000 },
  memoryMb: { min: 16, max: 1024, initial: 64 },
  outputBytes: { min: KiB, max: 32 * MiB, initial: 64 * KiB },
} as const;

/** Ranges of what a deployer may set of the calls of a run; a run keeps the values it started with. */
export const callRanges = {
  /** Calls of one run. */
  callsMax: { min: 1, max: 100_000, initial: 10_000 },
  /** Calls of one run that are with the core at once; more queue in order. */
  callsInFlightMax: { min: 1, max: 10_000, initial: 256 },
  /** Arguments of one call, as JSON text. */
  argumentsBytesMax: { min: KiB, max: 16 * MiB, initial: 1 * MiB },
  /** Result of one call, as JSON text. */
  resultBytesMax: { min: KiB, max: 32 * MiB, initial: 32 * MiB },
} as const;

/** Arguments and results that the attempts of one instance of CodeRunService may hold together, in bytes. */
export const heldBytesRange = { min: 256 * MiB, max: 64 * 1024 * MiB, initial: 512 * MiB } as const;

/** What the sandbox enforces of them. */
export type SandboxCallLimits = Omit<CallLimits, 'callsInFlightMax'>;

export type CallLimits = { readonly [Name in keyof typeof callRanges]: number };

export const initialCallLimits: CallLimits = {
  callsMax: callRanges.callsMax.initial,
  callsInFlightMax: callRanges.callsInFlightMax.initial,
  argumentsBytesMax: callRanges.argumentsBytesMax.initial,
  resultBytesMax: callRanges.resultBytesMax.initial,
};

export const limits = {
  /** Ids and names that a caller gives: session, turn, call id, owner, connection id and name. */
  idBytesMax: 256,
  /** The program as the agent wrote it. */
  codeBytesMax: 1 * MiB,
  /** The program after normalization, as the sandbox gets it. */
  programBytesMax: 2 * MiB,
  /** Words and signs of a program: what bounds the time that reading takes. */
  programTokensMax: 250_000,
  /** A program with types: reading it takes trial and error, which a hostile one can multiply. */
  typedProgramBytesMax: 64 * KiB,
  /** Tokens that this may take, beyond one for each character. */
  typedProgramTokensSpare: 2000,
  /** Checks against declarations that run at once, and that wait. */
  checksAtOnce: 2,
  checksQueuedMax: 100,
  /** Time and address space of the compiler in one check. */
  checkTimeoutMs: 10_000,
  checkMemoryBytes: 2048 * MiB,
  /** What the compiler may say, what is reported of it, and the message of one finding. */
  checkOutputBytesMax: 1 * MiB,
  checkFindingsMax: 20,
  checkMessageBytesMax: 1 * KiB,
  /** The agent's reason. */
  reasonBytesMax: 8 * KiB,
  /** A message of a decider or an app error. */
  messageBytesMax: 8 * KiB,
  /** A whole catalog, and the connections in it. */
  catalogBytesMax: 32 * MiB,
  connectionsMax: 1000,
  /** Capabilities of a whole catalog. */
  bindingsMax: 20_000,
  /** Names of a whole catalog, raw and as a program writes them, as a job holds them. */
  catalogNamesBytesMax: 8 * MiB,
  /** Raw name of a capability; of a resource its URI. */
  capabilityNameBytesMax: 4 * KiB,
  /** Catalogs that an instance keeps by digest, as encoded; what is made of one takes four to five times as much. */
  catalogsKeptBytesMax: 64 * MiB,
  /** Arguments and results of a run, or of a page of runs, in one message; past it they are left out. */
  recordBytesMax: 16 * MiB,
  /** Runs on a page, and without a wish. */
  pageSizeMax: 200,
  pageSizeDefault: 50,
  /** Text of the runs on a page, after which it ends early. */
  pageBytesMax: 32 * MiB,
  /** Token of a page. */
  pageTokenBytesMax: 1 * KiB,
  /** A stream that was opened and brings no first message. */
  firstMessageTimeoutMs: 30_000,
  /** A name as an agent may write it: "Work calendar/list-events", or as a program does. */
  bindingNameBytesMax: 16 * KiB,
  /** Words to search bindings by. */
  queryBytesMax: 1 * KiB,
  /** Text that describes bindings, at least, at most, and without a wish. */
  describeBytesMin: 1 * KiB,
  describeBytesMax: 1 * MiB,
  describeBytesDefault: 16 * KiB,
  /** Levels of a schema that are read; a deeper part is unknown. */
  schemaDepthMax: 48,
  /** Parts of a schema that are read; the rest is unknown. */
  schemaNodesMax: 20_000,
  /** Steps of working out what several parts of a schema mean together, as many as parts are touched; the rest is
   *  unknown. */
  schemaOperationsMax: 40_000,
  /** Text of one declaration, and types that are written in it; what is left of it is unknown. */
  declarationCharsMax: 256 * KiB,
  declarationPartsMax: 50_000,
  /** Parts and steps of all schemas, and text of all declarations, of one connection and of a catalog; what comes
   *  after takes and gives anything. */
  connectionStepsMax: 200_000,
  connectionCharsMax: 8 * MiB,
  catalogStepsMax: 600_000,
  catalogCharsMax: 64 * MiB,
  /** Parts and steps of all schemas of one description; what comes after gets a line. */
  describeStepsMax: 50_000,
  /** Values of an enum that are written out; a larger one is the type of its values, and says so. */
  enumMembersMax: 300,
  /** The comment of a field, and of a whole capability or connection; a longer one is cut and says so. */
  fieldDocCharsMax: 1000,
  capabilityDocCharsMax: 4000,
  /** Connections named in the definition of an agent tool; the rest is counted. */
  agentConnectionsBytesMax: 1 * KiB,
  /** What the text about a run may take beside outputBytes: the parts below, and their headings. */
  agentTextSpareBytes: 16 * KiB,
  /** The message of a failure, the calls, and the least that logs get, in that text. */
  agentMessageBytesMax: 4 * KiB,
  agentCallsBytesMax: 4 * KiB,
  agentLogBytesMin: 2 * KiB,
  /** Arguments of one call that waits, in that text. */
  agentArgumentsBytesMax: 1 * KiB,
  /** Calls of one run. */
  callsMax: 10_000,
  /** Calls of one run that are with the core at once; more queue in order. */
  callsInFlightMax: 256,
  /** Arguments of one call, as JSON text. */
  argumentsBytesMax: 1 * MiB,
  /** Levels of objects and arrays in arguments of a call, and in what a program returns. */
  jsonDepthMax: 1000,
  /** Result of one call, as JSON text. */
  resultBytesMax: 32 * MiB,
  /** Arguments and results of one run together: a replay holds them all. */
  runBytesMax: 256 * MiB,
  /** Journals that one instance reads at once to resume their runs. */
  journalReadsMax: 2,
  /** One log line; a longer one is cut and marked. */
  logLineBytesMax: 64 * KiB,
  /** A binding's name, "connection.capability": the longest that raw names within their limits become. */
  bindingBytesMax: 16 * KiB,
  /** Name and message of an error that a program threw; the realm cuts longer ones. */
  errorNameBytesMax: 1 * KiB,
  errorMessageBytesMax: 16 * KiB,
  /** What a child gets at once: the program, and the names it may call. */
  jobBytesMax: 16 * MiB,
  /** Calls and log lines of one step that are gathered before a piece of them is passed on. */
  stepPieceBytes: 256 * KiB,
  /** UTF-16 units of the results that are written to the journal at once; a larger one is written alone. */
  outcomesWriteCharsMax: 1 * MiB,
  /** A sealed field up to this stays in the row of its run; a larger one is kept in chunks beside it. */
  storeInlineBytesMax: 16 * KiB,
  /** A chunk, and a batch of the journal in one piece: far below what a database takes as one document. */
  storeChunkBytesMax: 4 * MiB,
  /** A field before it is compressed and sealed, and what one may become that is opened: calls and outcomes of one
   *  append, whose texts may take two bytes for one. */
  storeFieldBytesMax: 576 * MiB,
  /** Attempts that a run remembers, the last ones: a run may be resumed any number of times. */
  storeAttemptsMax: 100,
  /** A smaller field is not compressed. */
  storeCompressBytesMin: 1 * KiB,
  /** Data keys that one instance holds in the clear, those used last. */
  storeDataKeysMax: 4096,
  /** Claimed runs that one instance remembers; of others it reads again where their journal ends. */
  storeHeldRunsMax: 4096,
  /** Unreadable runs that one instance leaves alone for an hour; of others it tells at each sweep. */
  sweepLeftRunsMax: 10_000,
  /** A gRPC message to a service: the largest result or catalog and room for the rest. */
  grpcMessageBytesMax: 40 * MiB,
  /** A gRPC message from a service: a whole run, or a page of them. */
  grpcAnswerBytesMax: 160 * MiB,
  /** Text of a gRPC status; every character may take three bytes in a header, and clients read few KiB. */
  statusTextBytesMax: 1 * KiB,
  /** Field violations of a status, and the bytes of each of their two texts. */
  statusViolationsMax: 8,
  statusViolationBytesMax: 256,
} as const;

/** Bounds of one request message; grpcMessageBytesMax holds for all of them. */
export interface RequestLimits {
  readonly bytesMax: number;
  /** Fields of the message and of the messages in it, or members and items of JSON; each may become an object. */
  readonly partsMax: number;
}

/** A request that names something. So few bytes hold no more parts than this: they are not counted. */
export const smallRequest: RequestLimits = { bytesMax: 64 * KiB, partsMax: 64 * KiB };

/** A whole catalog: every capability with all its fields, and as much again for arguments of prompts. */
const catalogRequest: RequestLimits = { bytesMax: limits.grpcMessageBytesMax, partsMax: 500_000 };

/** Methods that take more, as "Service/Method". */
export const requestLimits: Readonly<Record<string, RequestLimits>> = {
  'CodeRunService/PutCatalog': catalogRequest,
  'CodeRunService/DescribeBindings': catalogRequest,
  'CodeRunService/GetAgentTools': catalogRequest,
  'CodeRunService/CheckCode': catalogRequest,
  /** A catalog, and the outcomes of as many calls as a run may have. */
  'CodeRunService/RunCode': { bytesMax: limits.grpcMessageBytesMax, partsMax: 1_500_000 },
  /** The names of a catalog, and what was inserted into a program. */
  'SandboxService/Execute': { bytesMax: limits.grpcMessageBytesMax, partsMax: 1_500_000 },
};

/** How long the sandbox waits for a process that it made. */
export const childLimits = {
  /** From asking for it until it is locked and ready; far above what a busy host needs. */
  readyMs: 30_000,
  /** From a connection to the secret that only a child of this sandbox knows. */
  secretMs: 20_000,
  /** Children that are made, one after another, in place of one that is not ready. */
  triesMax: 3,
  /** Until ready children are made again after some ended or could not be made; longer each time until it works. */
  pauseMsMin: 100,
  pauseMsMax: 10_000,
} as const;

/** Bounds of gRPC connections. */
export const grpcLimits = {
  /** Calls at once on one connection. */
  streamsMax: 2000,
  /** Metadata of a call: what the HTTP/2 of Node.js takes; grpc-js has no option for less. */
  headerBytesMax: 64 * KiB,
  /** A connection without a call. */
  idleMs: 600_000,
  /** How often a silent peer is asked whether it lives, and how long its answer may take. */
  keepaliveMs: 30_000,
  keepaliveTimeoutMs: 10_000,
} as const;

/** Bounds of the HTTP port. */
export const httpLimits = {
  /** Body of a route; Connect and gRPC-Web have the bounds of gRPC messages. */
  bodyBytesMax: 64 * KiB,
  headerBytesMax: 16 * KiB,
  /** From the first byte of a request to the last of its headers, and of its body. */
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  /** A connection without a request. */
  keepAliveTimeoutMs: 65_000,
  /** A connection on which nothing moves, in a request or in an answer. */
  silenceTimeoutMs: 120_000,
  /** How often slow connections are looked for. */
  checkingIntervalMs: 5000,
  connectionsMax: 10_000,
  requestsPerConnectionMax: 100_000,
} as const;

/** Limits of the reference core towards the apps it connects. */
export const appLimits = {
  /** From starting or dialling a server to the end of its handshake. */
  connectTimeoutMs: 30_000,
  /** A page of a list. */
  listTimeoutMs: 30_000,
  /** Pages of one list; a server whose cursor never ends is refused. */
  listPagesMax: 1000,
  /** A call without a sign of life: each progress notification starts it again. */
  callTimeoutMs: 60_000,
  /** A call with progress. */
  callTotalTimeoutMs: 600_000,
  /** Calls of one connection at once; more queue in order. */
  callsInFlightMax: 32,
  /** How long a server process gets to end by itself, and then to end after SIGTERM. */
  stopGraceMs: 2_000,
  /** How often a run is resumed after its stream broke without getting further, and the first pause; each
   *  next one is twice as long. */
  resumesMax: 6,
  resumePauseMs: 250,
  /** Runs of one page of a list, as the service allows. */
  runsPageMax: 200,
  /** Forms for decisions that may be open at once; past it the oldest is forgotten, and its run goes on waiting. */
  formsMax: 1000,
  /** Between two looks at a run that is followed. */
  followPauseMs: 500,
  /** What is kept of a server's stderr, to explain a failure. */
  stderrBytesMax: 4 * KiB,
} as const;

assert(limits.programBytesMax > limits.codeBytesMax, 'normalization may add to a program');
assert(limits.grpcMessageBytesMax > callRanges.resultBytesMax.max, 'a result must fit into a message');
assert(limits.grpcMessageBytesMax > limits.catalogBytesMax, 'a catalog must fit into a message');
assert(
  limits.bindingBytesMax >= 3 * (limits.idBytesMax + limits.capabilityNameBytesMax) + 64,
  'a name must fit into a call: lower snake case may take three bytes for one, and a number after it',
);
assert(limits.bindingNameBytesMax >= limits.bindingBytesMax, 'an agent may ask for every name that there is');
assert(
  limits.jobBytesMax >= limits.programBytesMax + limits.catalogNamesBytesMax + 4 * MiB,
  'a program must fit into a job, with all names of a catalog and what normalization inserted',
);
assert(
  limits.grpcMessageBytesMax > limits.stepPieceBytes + callRanges.argumentsBytesMax.max,
  'a piece must fit into a message',
);
assert(
  limits.grpcAnswerBytesMax >
    limits.codeBytesMax + 2 * settingRanges.outputBytes.max + 3 * limits.recordBytesMax,
  'a run must fit into a message: program, result, logs, and payloads measured in UTF-16 units',
);
assert(limits.catalogsKeptBytesMax >= limits.catalogBytesMax, 'a catalog that was put must be kept');
assert(limits.storeChunkBytesMax < 8 * MiB, 'a chunk stays below the document limit of every database');
assert(
  limits.storeFieldBytesMax >= 2 * (limits.runBytesMax + callRanges.resultBytesMax.max),
  'what a run may hold can be stored',
);
assert(limits.storeInlineBytesMax < limits.storeChunkBytesMax, 'a row holds less than a chunk');
assert(appLimits.callTotalTimeoutMs >= appLimits.callTimeoutMs, 'progress may only lengthen a call');
assert(
  limits.runBytesMax >= callRanges.argumentsBytesMax.max + callRanges.resultBytesMax.max,
  'a run holds at least one call',
);
assert(heldBytesRange.min >= limits.runBytesMax, 'an instance can hold any one run');
