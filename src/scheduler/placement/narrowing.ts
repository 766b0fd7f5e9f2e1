import { Status } from '../../framework/status.ts';

/**
 * What extenders said about pods that are alike: nodes that they did not leave are refused, and those that they did may be worth
 * more. It can only narrow what the plugins say.
 */
export interface Narrowing {
  /** node name -> what is added to its total; all other nodes are refused */
  readonly allowed: ReadonlyMap<string, number>;
  /** node name -> why it is refused; the others because nobody was asked about them */
  readonly refused: ReadonlyMap<string, Status>;
}

/** The node was no choice when the extenders were asked. */
export const notAsked = new Status('Unschedulable', 'node(s) that the extenders were not asked about');

/** For pods that nobody was asked about. */
export const nothingAllowed: Narrowing = { allowed: new Map(), refused: new Map() };
