/** A place where the prose check allows an avoided word. */
export interface Allowed {
  readonly path: string;
  readonly text: string;
  readonly reason: string;
}

export const allowList: readonly Allowed[] = [];
