import { UserError } from '../../base/user-error.ts';
import type { ForbiddenError } from '../../client/api-errors.ts';
import { missingPermission } from '../../client/missing-permission.ts';
import { grantingRole } from './granting-role.ts';

/** The caller may not list the nodes, or the pods of all namespaces. The message is a sentence without a period. */
export class HiddenClusterError extends UserError {
  override readonly name = 'HiddenClusterError';

  constructor(what: string, cause: ForbiddenError) {
    const user = missingPermission(cause)?.user;
    const who = user === undefined ? 'this user' : `user "${user}"`;
    super(`${who} may not list ${what}; ${grantingRole('')}`, { cause });
  }
}
