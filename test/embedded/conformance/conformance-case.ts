import type { Conversation } from './conversation.ts';

/** A few requests whose answers say something; runs on any plane, in a namespace that nobody else uses. */
export type ConformanceCase = (api: Conversation) => Promise<void>;

/** What is asked, as a sentence -> the case. */
export type CaseGroup = Readonly<Record<string, ConformanceCase>>;
