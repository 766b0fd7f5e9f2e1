/**
 * One of the client's separate rate limits. What a call is for decides how large a share of the rate it gets when there is a
 * queue:
 * - `lease`: never waits and takes nothing from the others; losing the Lease would stop everything;
 * - `bind`: bindings, and reading back what an ambiguous one did;
 * - `verdict`: the first verdict of an entity;
 * - `condition`: other conditions and status;
 * - `read`: one-off reads and lists;
 * - `event`: Events.
 */
export type Lane = 'lease' | 'bind' | 'verdict' | 'condition' | 'read' | 'event';
