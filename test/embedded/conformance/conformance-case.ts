import type { Conversation } from './conversation.ts';

/** A few requests whose responses are compared; runs on any plane, in its own namespace. */
export type ConformanceCase = (api: Conversation) => Promise<void>;

/** title of the case, as a sentence -> the case */
export type CaseGroup = Readonly<Record<string, ConformanceCase>>;
