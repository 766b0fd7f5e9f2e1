/** The id of a server-sent event: up to where a client has received the timeline. */
export interface EventId {
  readonly epoch: string;
  readonly sequence: number;
}

/** Returns `<epoch>.<sequence>`, which a client sends back as Last-Event-ID. */
export function formatEventId({ epoch, sequence }: EventId): string {
  return `${epoch}.${sequence}`;
}

/** Returns undefined for any other text. */
export function parseEventId(text: string): EventId | undefined {
  const [, epoch, sequence] = /^([a-z0-9-]{1,32})\.(\d{1,15})$/.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, sequence: Number(sequence) };
}
