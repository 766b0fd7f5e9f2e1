/**
 * What went wrong is something that the person who runs Tutti can put right: the message says what is wrong, where, and what
 * would be right. Such an error is shown without a stack, and never as a defect of ours.
 *
 * One subclass a cause, with a stable `name`; what it was made from is kept as `cause`.
 */
export abstract class UserError extends Error {}
