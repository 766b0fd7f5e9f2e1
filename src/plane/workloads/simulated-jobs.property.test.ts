import fc from 'fast-check';
import { expect, it } from 'vitest';
import { startJobsPlane } from './testing/jobs-plane.ts';
import type { JobsPlane } from './testing/jobs-plane.ts';
import type { JobStatus } from './job.ts';

/** What users, nodes and processes do to a Job and its pods. `pod`: which of those that run, by its place. */
type Step =
  | { readonly do: 'succeed' | 'fail' | 'delete' | 'kill'; readonly pod: number }
  | { readonly do: 'parallelism'; readonly count: number }
  | { readonly do: 'suspend' | 'resume' | 'restart' | 'anew' | 'orphan' }
  /** The so-manieth call of the controller from now on is lost, before or after it is carried out. */
  | { readonly do: 'lose'; readonly nth: number; readonly isCarriedOut: boolean }
  | { readonly do: 'wait'; readonly ms: number };

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly annotations: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly status: { readonly phase: string };
}

const podsPath = '/api/v1/namespaces/default/pods';
const calmMs = 60_000;

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('succeed' as const), pod: fc.nat(6) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('fail' as const, 'delete' as const, 'kill' as const), pod: fc.nat(6) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('parallelism' as const), count: fc.nat(6) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'suspend' as const,
        'resume' as const,
        'resume' as const,
        'restart' as const,
        'restart' as const,
        'anew' as const,
        'orphan' as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('lose' as const),
      nth: fc.integer({ min: 1, max: 6 }),
      isCarriedOut: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 5, 50, 150, 1_000) }) },
);

const anySpec = fc.record({
  isIndexed: fc.boolean(),
  completions: fc.integer({ min: 1, max: 7 }),
  parallelism: fc.integer({ min: 1, max: 5 }),
  podReplacementPolicy: fc.constantFrom('Failed', 'TerminatingOrFailed'),
});

/** A Job of which everything is known that has become of its pods. */
class Watched {
  readonly plane: JobsPlane;
  readonly #spec: Readonly<Record<string, unknown>>;
  #number = 0;
  #uid = '';
  #succeeded = 0;
  readonly #indexes = new Set<string>();
  #failed = 0;

  constructor(plane: JobsPlane, { isIndexed, ...spec }: { readonly isIndexed: boolean }) {
    this.plane = plane;
    this.#spec = { ...spec, backoffLimit: 1_000_000, completionMode: isIndexed ? 'Indexed' : 'NonIndexed' };
  }

  async create(): Promise<void> {
    const made = (await this.plane.createJob('j', { ...this.#spec })) as { metadata: { uid: string } };
    this.#uid = made.metadata.uid;
    this.#number++;
    this.#succeeded = this.#failed = 0;
    this.#indexes.clear();
  }

  /** Those that do their work. */
  async active(): Promise<Pod[]> {
    const pods = (await this.plane.client.list(podsPath)).items as Pod[];
    return pods.filter(
      ({ metadata, status }) =>
        status.phase === 'Running' &&
        metadata.deletionTimestamp === undefined &&
        metadata.ownerReferences?.[0]?.uid === this.#uid,
    );
  }

  /**
   * Those of them that will be counted. One that was let go to be deleted, and is there because the next call was lost, is counted no more, as in
   * a cluster.
   */
  async running(): Promise<Pod[]> {
    return (await this.active()).filter(({ metadata }) => metadata.finalizers !== undefined);
  }

  async end(place: number, phase: 'Succeeded' | 'Failed'): Promise<void> {
    const pods = await this.running();
    const pod = pods[place % pods.length];
    if (pod !== undefined) await this.#end(pod, phase);
  }

  async endAll(): Promise<void> {
    for (const pod of await this.active()) await this.#end(pod, 'Succeeded');
  }

  async #end({ metadata }: Pod, phase: 'Succeeded' | 'Failed'): Promise<void> {
    await this.plane.client.patch(`${podsPath}/${metadata.name}/status`, 'merge', { status: { phase } });
    if (metadata.finalizers === undefined) return;
    if (phase === 'Failed') this.#failed++;
    else {
      this.#succeeded++;
      this.#indexes.add(metadata.annotations['batch.kubernetes.io/job-completion-index'] ?? '');
    }
  }

  async delete(place: number, options: object): Promise<void> {
    const pods = await this.running();
    const pod = pods[place % pods.length];
    if (pod === undefined) return;
    await this.plane.client.delete(`${podsPath}/${pod.metadata.name}`, options);
    this.#failed++;
  }

  /** Everything has happened that was to come of it. */
  async expectCounted(): Promise<void> {
    const status = await this.plane.status('j');
    const isIndexed = this.#spec.completionMode === 'Indexed';
    const expected = {
      number: this.#number,
      succeeded: isIndexed ? this.#indexes.size : this.#succeeded,
      failed: this.#failed,
    };
    const { succeeded = 0, failed = 0 } = status;
    expect({ number: this.#number, succeeded, failed }).toEqual(expected);
    expect(status.uncountedTerminatedPods ?? {}).toEqual({});
    expect(status.terminating ?? 0).toBe(0);
    expect(status.active ?? 0).toBe((await this.active()).length);
  }
}

function isOver({ conditions = [] }: JobStatus): boolean {
  return conditions.some(({ type }) => type === 'Complete' || type === 'Failed');
}

it('counts each pod once, whatever is done to it, to its Job and to whoever counts', async () => {
  await fc.assert(
    fc.asyncProperty(anySpec, fc.array(anyStep, { minLength: 5, maxLength: 30 }), async (spec, steps) => {
      await using plane = await startJobsPlane();
      const job = new Watched(plane, spec);
      const calm = async (): Promise<void> => {
        plane.onCall = plane.onAnswer = () => undefined;
        await plane.pass(calmMs);
      };
      await job.create();
      for (const step of steps) {
        switch (step.do) {
          case 'succeed':
          case 'fail':
            // Not while it is being taken away.
            await calm();
            if (!isOver(await plane.status('j'))) await job.end(step.pod, step.do === 'fail' ? 'Failed' : 'Succeeded');
            break;
          case 'delete':
          case 'kill':
            await calm();
            if (!isOver(await plane.status('j')))
              await job.delete(step.pod, step.do === 'kill' ? { gracePeriodSeconds: 0 } : {});
            break;
          case 'parallelism':
            await plane.patchJob('j', { parallelism: step.count });
            break;
          case 'suspend':
          case 'resume':
            if (!isOver(await plane.status('j'))) await plane.patchJob('j', { suspend: step.do === 'suspend' });
            break;
          case 'restart':
            await plane.replaceController();
            break;
          case 'anew':
          case 'orphan':
            await calm();
            await plane.deleteJob('j', step.do === 'anew' ? 'Background' : 'Orphan');
            await job.create();
            break;
          case 'lose': {
            let left = step.nth;
            const lose = (): void => {
              if (--left === 0) throw new Error('the connection is lost');
            };
            if (step.isCarriedOut) plane.onAnswer = lose;
            else plane.onCall = lose;
            break;
          }
          case 'wait':
            await plane.pass(step.ms);
        }
      }
      await calm();
      await plane.pass(600_000);
      await job.expectCounted();
      // It can be brought to its end.
      if (!isOver(await plane.status('j'))) await plane.patchJob('j', { suspend: false, parallelism: 5 });
      for (let round = 0; round < 20 && !isOver(await plane.status('j')); round++) {
        await plane.pass(1_300_000);
        await job.endAll();
        await plane.pass(5_000);
      }
      expect(isOver(await plane.status('j'))).toBe(true);
      await job.expectCounted();
      expect((await plane.pods()).filter(({ metadata }) => metadata.finalizers !== undefined)).toEqual([]);
      expect(plane.controller.isMoving).toBe(false);
    }),
    { numRuns: 30, seed: 1401 },
  );
});
