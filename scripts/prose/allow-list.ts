/** A place where the prose check lets an avoided word stand. */
export interface Allowed {
  readonly path: string;
  readonly text: string;
  readonly reason: string;
}

export const allowList: readonly Allowed[] = [];
