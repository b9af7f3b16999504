/** What the supervisor and a zygote say to each other, in the frames of isolate/frames.ts. */

/** From the supervisor. */
export const toZygote = {
  /** Secret of the child, u32 timeoutMs. */
  fork: 1,
  /** u32 process id. Of one that has ended already: nothing happens. */
  kill: 2,
} as const;

/** From the zygote. */
export const fromZygote = {
  /** It has its isolate and waits. */
  prepared: 1,
  /** Secret of the child, u32 process id; 0 if there is none. */
  forked: 2,
  /** u32 process id, u32 status as waitpid gives it, u32 processor milliseconds, u32 resident KiB at most. */
  ended: 3,
} as const;

export const controlFrameBytesMax = 64;
