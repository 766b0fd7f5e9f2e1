import { GoneError } from '../../client/api-errors.ts';

/** How often lists are started when the server drops the version of a list before its last page. */
const maxAttempts = 3;

/** Calls `load` again from the start if the server has dropped the version of a list before its last page. */
export async function retryWhenGone<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await load();
    } catch (error) {
      if (!(error instanceof GoneError) || attempt === maxAttempts) throw error;
    }
  }
}
