/**
 * An error that the user can fix. The message states what is wrong, where, and what would be right. It is shown without a stack,
 * and never as a bug in Tutti.
 *
 * One subclass per cause, with a stable `name`; the original error is kept as `cause`.
 */
export abstract class UserError extends Error {}
