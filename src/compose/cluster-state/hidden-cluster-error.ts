import { UserError } from '../../base/user-error.ts';
import type { ForbiddenError } from '../../client/api-errors.ts';
import { missingPermission } from '../../client/missing-permission.ts';

/** The caller may not list the nodes, or the pods of all namespaces. The message is a sentence without a period. */
export class HiddenClusterError extends UserError {
  override readonly name = 'HiddenClusterError';

  constructor(what: string, cause: ForbiddenError) {
    const user = missingPermission(cause)?.user;
    super(`${user === undefined ? 'this user' : `user "${user}"`} may not list ${what}`, { cause });
  }
}
