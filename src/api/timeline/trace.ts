/** Number of a process or thread in a trace. @asType integer @minimum 1 */
type TraceId = number;

/** Microseconds. @asType integer @minimum 0 */
type Microseconds = number;

/** Names a process, which is a namespace, or a thread, which is a lane, or sets its place. */
export interface TraceName {
  readonly ph: 'M';
  readonly name: 'process_name' | 'thread_name' | 'process_sort_index' | 'thread_sort_index';
  readonly pid: TraceId;
  readonly tid: TraceId;
  readonly args: { readonly name: string } | { readonly sort_index: number };
}

interface TraceMark {
  readonly name: string;
  readonly cat: 'state' | 'event' | 'record';
  /** Since the epoch, on the scheduler's clock. */
  readonly ts: Microseconds;
  readonly pid: TraceId;
  readonly tid: TraceId;
  readonly args: Readonly<Record<string, string | number>>;
}

/** A time in one state. Spans of one lane do not overlap. */
export interface TraceSpan extends TraceMark {
  readonly ph: 'X';
  readonly dur: Microseconds;
}

/** Something that happened at one time: in its lane (`t`), or to the whole record (`g`). */
export interface TraceInstant extends TraceMark {
  readonly ph: 'i';
  readonly s: 't' | 'g';
}

/** The output of `tutti timeline -o trace`, in the Trace Event Format, which Perfetto and chrome://tracing load. */
export interface Trace {
  readonly displayTimeUnit: 'ms';
  readonly traceEvents: readonly (TraceName | TraceSpan | TraceInstant)[];
}
