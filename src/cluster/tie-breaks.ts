/** Numbers that order what is otherwise equal, in place of names. Only a snapshot without the names has them. */
export interface TieBreaks {
  /** node name -> its numbers: `hash` is mixed with the salt of a pod class, `rank` orders nodes by itself */
  readonly nodes: Readonly<Record<string, { readonly hash: number; readonly rank: number }>>;
  /** uid of a waiting pod -> the numbers of its class: `salt` is mixed with the hash of a node, `rank` orders the classes */
  readonly pods: Readonly<Record<string, { readonly salt: number; readonly rank: number }>>;
}
