import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { invalidRuntimeOf, runtimeAnnotation, runtimeSecondsOf } from './declared-runtime.ts';
import { PodProjector } from './pod-projector.ts';
import { podsEqualForScheduling } from './pod.ts';

const annotations = (value: string): Record<string, string> => ({ [runtimeAnnotation]: value });

describe('the declared run time', () => {
  it.each([
    ['90m', 5_400],
    ['1h30m', 5_400],
    ['5400', 5_400],
    ['1.5s', 2],
    ['1ms', 1],
    ['87600h', 315_360_000],
    ['315360000', 315_360_000],
  ])('is read from %s', (value, seconds) => {
    expect(runtimeSecondsOf(annotations(value))).toBe(seconds);
    expect(invalidRuntimeOf(annotations(value))).toBeUndefined();
  });

  it.each(['0', '0s', '-90m', '-1', 'soon', '90 m', '1e3', '0x10', '5.5', '87600h1s', '315360001', '9'.repeat(60)])(
    'is not read from %s, which is reported',
    (value) => {
      expect(runtimeSecondsOf(annotations(value))).toBe(0);
      expect(invalidRuntimeOf(annotations(value))).toBe(value);
    },
  );

  it('is absent without a value', () => {
    for (const absent of [undefined, {}, annotations('')]) {
      expect([runtimeSecondsOf(absent), invalidRuntimeOf(absent)]).toEqual([0, undefined]);
    }
  });

  it('is reported cut and escaped', () => {
    const reported = invalidRuntimeOf(annotations(`\u001b[2J${'9'.repeat(200_000)}`))!;
    expect(reported).toMatch(/^\\u001b\[2J9+…$/);
    expect(reported.length).toBe(64);
  });
});

describe('the projection of a pod', () => {
  it('has the declared run time and the deadline, and differs if they change', () => {
    const build = new Builders();
    const pod = build.projectedPod({ name: 'a', runtime: '90m', activeDeadlineSeconds: 600 });
    expect(pod).toMatchObject({ runtimeSeconds: 5_400, invalidRuntime: undefined, deadlineSeconds: 600 });
    expect(build.projectedPod()).toMatchObject({ runtimeSeconds: 0, deadlineSeconds: 0, controller: undefined });
    expect(podsEqualForScheduling(pod, { ...pod, runtimeSeconds: 60 })).toBe(false);
    expect(podsEqualForScheduling(pod, { ...pod, deadlineSeconds: 60 })).toBe(false);
    expect(podsEqualForScheduling(pod, { ...pod })).toBe(true);
  });

  it('shares one controller with its siblings', () => {
    const build = new Builders();
    const [first, second] = build.projectedPods(2, { job: 'red' });
    expect(first!.controller).toEqual({ kind: 'Job', name: 'red', uid: 'red' });
    expect(second!.controller).toBe(first!.controller);
    expect(build.projectedPod({ job: 'blue' }).controller).not.toEqual(first!.controller);
  });

  it('keeps only whether there is a controller if nothing reads more', () => {
    const build = new Builders();
    const projector = new PodProjector(build.resources, { controllers: false });
    const [a, b, alone] = [{ job: 'a' }, { owner: 'b' }, {}].map((options) => projector.project(build.pod(options)));
    expect(a!.controller).toEqual({ kind: '', name: '', uid: '' });
    expect(b!.controller).toBe(a!.controller);
    expect(alone!.controller).toBeUndefined();
  });
});
