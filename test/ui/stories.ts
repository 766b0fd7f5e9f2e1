import type { TimelineNode } from '../../src/api/timeline/timeline-node.ts';
import { TimelineStory } from './timeline-story.ts';

const noon = new Date(2026, 0, 1, 12).getTime();
export const cpuReason = '12 more cpu needed, 4 free';

/** Some minutes of a small cluster in which each state occurs. */
export function exampleStory(): TimelineStory {
  const story = new TimelineStory(noon);
  const cyan = story.group('cyan', 16);
  const blue = story.group('blue', 4);
  const red = story.group('red', 8);
  story.pass(20).tell(cyan, 'Ready', 'Waiting');
  story.pass(5).tell(cyan, 'Planned', 'Starting', { planned: 16 });
  story.pass(6).tell(cyan, 'Started', 'Running', { bound: 16 });
  story.tell(red, 'Ready', 'Waiting');
  story.pass(10).tell(red, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: cpuReason });
  story.pass(90).again(red, 7);
  story.tell(blue, 'Ready', 'Waiting');
  story.pass(20).tell(blue, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: '4 more cpu needed, 0 free' });
  story.group('lab', 4, 'dev');
  const green = story.group('green', 2);
  story.tell(green, 'Ready', 'Waiting').pass(4).tell(green, 'Started', 'Running', { bound: 2 });
  const teal = story.group('teal', 2, 'team-with-a-long-name');
  story.tell(teal, 'Ready', 'Waiting').pass(3).tell(teal, 'Planned', 'Starting', { planned: 2 });
  story.pass(8).tell(teal, 'BindingFailed', 'Waiting', { planned: 0, reason: 'the API server rejected the binding' });
  story.pass(30).tell(teal, 'Planned', 'Starting', { planned: 2 });
  story.pass(40).tell(green, 'Lost', 'Degraded', { bound: 1, reason: 'the node is gone' });
  const preempted = story.group('batch', 3, 'low');
  story.tell(preempted, 'Started', 'Running', { bound: 3 });
  story.pass(50).tell(preempted, 'Preempted', 'Degraded', { bound: 0, by: red });
  story.tell(red, 'Reserved', 'Waiting', { reason: 'preemption', waitsFor: 'capacity' });
  story.pass(10).tell(preempted, 'Lost', 'Waiting', { bound: 0, waitsFor: 'turn' });
  const done = story.group('done', 1);
  story.tell(done, 'Started', 'Running', { bound: 1 }).pass(15).tell(done, 'Succeeded', 'Finished', { bound: 0 });
  const failed = story.group('failed', 1);
  story.tell(failed, 'Started', 'Running', { bound: 1 }).pass(12).tell(failed, 'Failed', 'Failed', { bound: 0 });
  story.pass(5).tell(blue, 'Planned', 'Starting', { planned: 4 });
  story.pass(4).tell(blue, 'Bound', 'Partial', { bound: 2, planned: 2, node: 'node-2' });
  const newer = story.group('newer', 2);
  story.pass(3).tell(newer, 'Changed', 'Unknown');
  story.pass(30);
  const shares: readonly [string | undefined, number, number][][] = [
    [[cyan, 0.75, 0]],
    [
      [cyan, 0.5, 0],
      [blue, 0.25, 0],
    ],
    [
      [cyan, 0.5, 0],
      [undefined, 0.125, 0],
      [red, 0, 0.25],
    ],
    [[undefined, 0.0625, 0]],
    [[green, 0.5, 0]],
    [],
  ];
  shares.forEach((each, index) =>
    story.node(exampleNode(`node-${index + 1}`, each, index === 3 ? 'Cordoned' : 'Ready')),
  );
  return story;
}

/** Ten minutes in which gangs start whole, wait, are preempted and are repaired. The README shows it. */
export function gangStory(): TimelineStory {
  const story = new TimelineStory(noon);
  const start = (key: string, members: number, waitSeconds: number): void => {
    story.tell(key, 'Ready', 'Waiting').pass(waitSeconds).tell(key, 'Planned', 'Starting', { planned: members });
    story.pass(5).tell(key, 'Started', 'Running', { bound: members });
  };
  const train = story.group('train-large', 16);
  const batch = story.group('nightly', 6, 'batch');
  story.pass(25);
  start(batch, 6, 6);
  const prepare = story.group('prepare', 4);
  story.pass(20);
  start(prepare, 4, 5);
  story.tell(train, 'Ready', 'Waiting').pass(8);
  story.tell(train, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: cpuReason });
  const tune = story.group('tune', 4);
  story.pass(30);
  start(tune, 4, 4);
  story.pass(60).again(train, 9);
  story.group('sweep', 8, 'research');
  story.pass(25).tell(prepare, 'Succeeded', 'Finished', { bound: 0 });
  story.tell(train, 'Reserved', 'Waiting', { waitsFor: 'capacity', reason: 'preemption' });
  story.tell(batch, 'Preempted', 'Degraded', { bound: 0, by: train }).pass(22);
  story.tell(batch, 'Changed', 'Waiting', { waitsFor: 'capacity' });
  story.tell(train, 'ReservationEnded', 'Waiting').tell(train, 'Planned', 'Starting', { planned: 16 });
  story.pass(12).tell(train, 'Started', 'Running', { bound: 16 });
  story.pass(10).tell(batch, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: cpuReason });
  story.pass(75).tell(tune, 'Lost', 'Degraded', { bound: 3, reason: 'the node is gone' });
  story.pass(40).tell(tune, 'Repaired', 'Running', { bound: 4 });
  const evaluate = story.group('evaluate', 2);
  story.pass(15);
  start(evaluate, 2, 6);
  story.again(batch, 14).pass(70);
  return story;
}

export function exampleNode(
  name: string,
  shares: readonly (readonly [entity: string | undefined, used: number, reserved: number])[],
  state: TimelineNode['state'] = 'Ready',
): TimelineNode {
  const sum = (index: 1 | 2): number => shares.reduce((total, share) => total + share[index], 0);
  const ofCpu = { allocatable: 16, used: 16 * sum(1), reserved: 16 * sum(2) };
  return {
    ...{ name, state, scarcest: 'cpu' },
    resources: { cpu: ofCpu, memory: { allocatable: 64 * 2 ** 30, used: 2 ** 30, reserved: 0 } },
    shares: shares.map(([entity, used, reserved]) => ({ ...(entity !== undefined && { entity }), used, reserved })),
  };
}

/** Many groups with transitions over ten minutes. Equal each time. */
export function largeStory(groups = 1_000, transitions = 5_000): TimelineStory {
  const story = new TimelineStory(noon);
  const keys = Array.from({ length: groups }, (_, index) => story.group(`group-${index}`, 1 + (index % 16)));
  const steps = [
    ['Ready', 'Waiting'],
    ['Rejected', 'Waiting'],
    ['Planned', 'Starting'],
    ['Started', 'Running'],
    ['Succeeded', 'Finished'],
  ] as const;
  /** index of a group -> its next step */
  const next = keys.map(() => 0);
  for (let count = groups; count < transitions; count++) {
    const group = (count * 7_919) % groups;
    const [kind, state] = steps[next[group]!++ % steps.length]!;
    story
      .pass(600 / transitions)
      .tell(keys[group]!, kind, state, { bound: state === 'Running' ? 1 + (group % 16) : 0 });
  }
  story.tell(keys[3]!, 'Bound', 'Partial', { bound: 1 });
  for (let index = 0; index < 500; index++)
    story.node(
      exampleNode(`node-${index}`, [
        [keys[index]!, 0.5, 0],
        [keys[index + 1]!, 0.25, 0.1],
      ]),
    );
  return story;
}

/** Something happens to the next groups of a large story, in turns. */
export function changeGroups(story: TimelineStory, count: number, groups = 1_000): void {
  const round = Math.floor(story.transitions.length / groups);
  for (let change = 0; change < count; change++) {
    const key = `gang/ml/group-${story.transitions.length % groups}`;
    if (round % 2 === 0) story.tell(key, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: 'too little cpu' });
    else story.tell(key, 'Started', 'Running', { bound: 1 });
  }
}
