/**
 * A class of calls with its own share of the rate limit. When calls wait, the purpose of a call decides how large its share is:
 * - `lease`: never waits and takes nothing from other lanes, because losing the Lease would stop everything;
 * - `bind`: bindings, and reading back an ambiguous one;
 * - `verdict`: the first verdict of an entity;
 * - `condition`: other conditions and status;
 * - `read`: one-off reads and lists;
 * - `event`: Events.
 */
export type Lane = 'lease' | 'bind' | 'verdict' | 'condition' | 'read' | 'event';
