import type { Passage } from './passage.ts';

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly kind: 'word' | 'passive' | 'long sentence';
  /** The matched words, or the start of the sentence. */
  readonly text: string;
}

export interface Figures {
  words: number;
  sentences: number;
  readonly findings: Finding[];
}

/** Words and phrases to avoid: name the component that acts. */
const avoided =
  /\b(nobody|somebody|whoever|anew|told|so many|what (?:is|are|was|were) (?:\w+ ){1,6}?(?:is|are|was|were))\b/gi;
const irregular =
  'beaten|begun|bound|broken|brought|built|caught|chosen|cut|dealt|done|drawn|driven|fed|felt|forgotten|found|frozen|given|grown|heard|held|hidden|hit|kept|known|laid|led|left|lent|lost|made|meant|met|paid|proven|put|read|rebuilt|reset|run|said|seen|sent|set|shown|shut|sought|spent|split|spread|stolen|struck|stuck|swept|taken|taught|thought|thrown|told|torn|undone|understood|withdrawn|won|worn|written|overwritten|rewritten';
const passive = new RegExp(
  `\\b(am|is|are|was|were|be|been|being)\\s+(?:(?:not|never|always|also|only|still|already|then|now|thus|often|again|\\w+ly)\\s+)?(${irregular}|\\w{2,}ed)\\b`,
  'gi',
);
/** Words that look like participles but are not. */
const lookAlikes = new Set(['indeed', 'hundred', 'red']);
const longSentence = 35;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Counts words and sentences, and finds every avoided word, passive verb and long sentence. */
export function measure(passages: Iterable<Passage>): Figures {
  const figures: Figures = { words: 0, sentences: 0, findings: [] };
  for (const { path, line, text } of passages) {
    for (const paragraph of text.split(/\n\s*\n|\n(?=\s*[-*] )/)) {
      const sentenceTexts = [...segmenter.segment(paragraph.replace(/\s+/g, ' '))].map(({ segment }) => segment);
      for (const sentence of sentenceTexts) {
        const words = sentence.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu)?.length ?? 0;
        if (words === 0) continue;
        figures.words += words;
        figures.sentences++;
        const add = (kind: Finding['kind'], found: string): void =>
          void figures.findings.push({ path, line, kind, text: found });
        if (words > longSentence) add('long sentence', `${words} words: ${sentence.slice(0, 60)}…`);
        for (const [found] of sentence.matchAll(avoided)) add('word', found);
        for (const [found, , participle] of sentence.matchAll(passive))
          if (!lookAlikes.has(participle!.toLowerCase())) add('passive', found);
      }
    }
  }
  return figures;
}
