// Writes the pictures of the timeline page for the README: plays a story and lets the page's own code draw its lanes, as SVG. With --check, writes nothing and
// fails if they are outdated.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { emptyTimeline, withMessage } from '../src/api/timeline/client-timeline.ts';
import type { TimelineState } from '../src/api/timeline/timeline-state.ts';
import { gangStory } from '../test/ui/stories.ts';
import { loadPagePainting } from './timeline-picture/page-painting.ts';
import type { PagePainting } from './timeline-picture/page-painting.ts';
import { SvgContext } from './timeline-picture/svg-context.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const [width, rowHeight, axisHeight, legendHeight] = [920, 22, 24, 34];
/** Part of the span to the right of now. */
const margin = 0.02;

const states: readonly (readonly [TimelineState, string])[] = [
  ['NotReady', 'members missing'],
  ['Waiting', 'waiting'],
  ['Starting', 'planned'],
  ['Running', 'running'],
  ['Degraded', 'degraded'],
  ['Finished', 'finished'],
];
const signs: readonly (readonly [string, string])[] = [
  ['!', 'no nodes found'],
  ['▼', 'preempted'],
  ['×', 'member lost'],
  ['+', 'repaired'],
];

function picture(
  { lanesOf, rowsLayout, paintGangs, paintBar, themes }: PagePainting,
  scheme: 'light' | 'dark',
): string {
  const theme = themes[scheme];
  const story = gangStory();
  const timeline = withMessage(emptyTimeline, story.snapshot());
  const lanes = lanesOf(timeline);
  const height = axisHeight + lanes.length * rowHeight + 4;
  const layout = rowsLayout(width, height, 0);
  // All that is recorded.
  const span = (story.now - story.heldSince) / (1 - margin);
  const scale = { end: story.now + span * margin, span, width: width - layout.nameWidth };
  const context = new SvgContext();
  paintGangs(context, { lanes, layout, scale, heldSince: story.heldSince, now: story.now, selected: undefined, theme });
  context.fillStyle = theme.background;
  context.fillRect(0, height, width, legendHeight);
  const middle = height + legendHeight / 2;
  let x = 6;
  const label = (text: string, start: number): void => {
    Object.assign(context, { font: '11px', textAlign: 'start', textBaseline: 'middle', fillStyle: theme.muted });
    context.fillText(text, start, middle);
    x = start + context.measureText(text).width + 10;
  };
  for (const [state, text] of states) {
    paintBar(context, state, { x, y: middle - 7.5, width: 22, height: 15 }, theme);
    label(text, x + 27);
  }
  for (const [sign, text] of signs) {
    Object.assign(context, { font: 'bold 11px', textAlign: 'start', textBaseline: 'middle', fillStyle: theme.mark });
    context.fillText(sign, x + 2, middle);
    label(text, x + 14);
  }
  const [all, box] = [height + legendHeight, `width="${width}" height="${height + legendHeight}"`];
  return `<svg xmlns="http://www.w3.org/2000/svg" ${box} viewBox="0 0 ${width} ${all}" font-family="system-ui, sans-serif">
<!-- Made by scripts/generate-timeline-picture.ts -->
${context.elements}
</svg>
`;
}

const page = await loadPagePainting();
for (const scheme of ['light', 'dark'] as const) {
  const file = join('docs', 'images', `timeline-${scheme}.svg`);
  const text = picture(page, scheme);
  if (process.argv.includes('--check')) {
    const present = await readFile(join(root, file), 'utf8').catch(() => '');
    if (present === text) continue;
    console.error(`${file} is outdated: run node scripts/generate-timeline-picture.ts`);
    process.exitCode = 1;
  } else {
    await mkdir(join(root, dirname(file)), { recursive: true });
    await writeFile(join(root, file), text);
    console.log(`wrote ${file}`);
  }
}
