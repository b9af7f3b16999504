/** Failures of the store as a caller may know them. */
import { AppError } from '../../shared/errors.ts';
import { RunUnreadable, StoreUnavailable } from '../store/contract.ts';

export async function stored<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreUnavailable) {
      throw new AppError('UNAVAILABLE', 'the store cannot be reached: try again', { cause: error });
    }
    if (error instanceof RunUnreadable) {
      // The store says which key is missing, or that the run was changed; it knows nothing else to tell.
      throw new AppError('UNAVAILABLE', error.message, { cause: error, retryable: false });
    }
    throw error;
  }
}
