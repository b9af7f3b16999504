/** What the core is told when an attempt ends without an end of the run, or cannot begin. */
import { AppError } from '../../shared/errors.ts';
import type { StopReason } from '../core/machine-types.ts';
import { isFinal, type StoredRun } from '../core/model.ts';
import { RunUnreadable, StoreUnavailable } from '../store/contract.ts';

export function stoppedError(why: StopReason, runId: string): AppError {
  const resume = `Code run ${runId} is Running: resume it.`;
  switch (why) {
    case 'CoreLost':
      return new AppError('CANCELLED', `The caller went away. ${resume}`);
    case 'CoreClosed':
      return new AppError(
        'CANCELLED',
        `The caller ended its side while calls had no outcome. ${resume} Keep the stream open until the run ends.`,
      );
    case 'Draining':
      return new AppError('UNAVAILABLE', `This instance is shutting down. ${resume}`);
    case 'StoreUnavailable':
      return new AppError('UNAVAILABLE', `The store cannot be reached. ${resume}`);
    case 'SandboxBusy':
      return new AppError('RESOURCE_EXHAUSTED', `Every sandbox is busy. ${resume}`, { retryable: true });
    case 'NoRoom':
      return new AppError(
        'RESOURCE_EXHAUSTED',
        `The runs of this instance hold more arguments and results than it has room for, and this one the most. ${resume}`,
        { retryable: true },
      );
  }
}

/** Another attempt has the run, or a cancel ended this one's claim. */
export function takenOver({ id, status }: StoredRun): AppError {
  return new AppError('ABORTED', `This attempt lost code run ${id} to another one; it is ${status}.`);
}

/** A start of a tool call that has a run which is not final. */
export function alreadyStarted(run: StoredRun): AppError {
  return new AppError(
    'FAILED_PRECONDITION',
    `This tool call started code run ${run.id}, which is ${run.status}. Resume it instead.`,
  );
}

/** A resume of a run that another one has, or that is final. */
export function cannotResume(run: StoredRun): AppError {
  return isFinal(run.status)
    ? new AppError('FAILED_PRECONDITION', `Code run ${run.id} is ${run.status}. Read it instead.`)
    : new AppError(
        'ABORTED',
        `Code run ${run.id} is ${run.status} at another caller. Resume it after that one is gone.`,
      );
}

export function notFound(runId: string): AppError {
  return new AppError('NOT_FOUND', `There is no code run ${runId}.`);
}

export function draining(): AppError {
  return new AppError('UNAVAILABLE', 'This instance is shutting down. Try another one.');
}

/** What the store throws, in the words of the API. */
export async function withStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof StoreUnavailable) {
      throw new AppError('UNAVAILABLE', 'The store cannot be reached. Try again.', { cause });
    }
    if (cause instanceof RunUnreadable) {
      throw new AppError(
        'UNAVAILABLE',
        'This code run cannot be read: its key is missing or it is damaged.',
        {
          cause,
          retryable: false,
        },
      );
    }
    throw cause;
  }
}
