import { describe, expect, it } from 'vitest';
import { ForbiddenError, ServerError } from '../../client/api-errors.ts';
import { oneGang } from '../testing/preemption-story.ts';

function forbidden(verb: string, resource: string): ForbiddenError {
  const message = `pods "old" is forbidden: User "tutti" cannot ${verb} resource "${resource}" in API group "" in the namespace "default"`;
  return new ForbiddenError(message, { status: 403, reason: 'Forbidden', request: '', causes: [] });
}

function unavailable(): ServerError {
  return new ServerError('try later', { status: 500, reason: 'InternalError', request: '', causes: [] });
}

describe('a mark that is refused', () => {
  it('PE25 - deletes nothing, takes all marks back, frees the capacity, and the verdict names the permission', async () => {
    const story = oneGang();
    story.pod('high', { priority: 1000 });
    story.fails = (verb, name) => (verb === 'mark' && name === 'low-3' ? forbidden('patch', 'pods/status') : undefined);
    await story.run();
    await story.after(2);
    expect(story.sent.filter((sent) => sent.startsWith('delete'))).toEqual([]);
    expect(story.pods.filter(({ preemptionMark }) => preemptionMark !== undefined)).toEqual([]);
    expect([story.reserved, story.stored('high')!.nominatedNodeName]).toEqual([{}, '']);
    expect(story.verdictOn('high')).toContain(
      'preemption: the scheduler lacks the permission to patch pods/status; next try not before',
    );
    expect(Object.keys(story.bound)).toHaveLength(4);
  });

  it('the same holds for the right to delete pods', async () => {
    const story = oneGang();
    story.pod('high', { priority: 1000 });
    story.fails = (verb) => (verb === 'delete' ? forbidden('delete', 'pods') : undefined);
    await story.run();
    await story.after(2);
    expect(story.pods.filter(({ preemptionMark, deleting }) => preemptionMark !== undefined || deleting)).toEqual([]);
    expect(story.verdictOn('high')).toContain('preemption: the scheduler lacks the permission to delete pods');
  });
});

describe('a plan that ends before its deletes', () => {
  it('takes the marks of a group back although a member was deleted by someone else, and holds the group no longer', async () => {
    const story = oneGang();
    story.pod('high', { cpu: 4, priority: 1000 });
    story.holds = (verb, name) => verb === 'mark' && name === 'low-3';
    await story.run();
    story.change('low-0', { deleting: true });
    story.remove('low-0');
    story.fails = (verb, name) => (verb === 'mark' && name === 'low-3' ? forbidden('patch', 'pods/status') : undefined);
    await story.release();
    expect(story.sent).toEqual(['mark low-0', 'mark low-1', 'mark low-2', 'unmark low-1', 'unmark low-2']);
    story.pod('again', { group: 'low' });
    await story.after(5);
    expect(Object.keys(story.bound)).toContain('again');
  });
});

describe('the eviction of a group', () => {
  it('PE24 - goes on until all members are deleted, although the API refuses for a while', async () => {
    const story = oneGang();
    story.pod('high', { cpu: 4, priority: 1000 });
    let failures = 0;
    story.fails = (verb, name) => (verb === 'delete' && name === 'low-2' && failures++ < 3 ? unavailable() : undefined);
    await story.run();
    expect(story.sent.filter((sent) => sent.startsWith('delete'))).toHaveLength(3);
    await story.after(10);
    await story.after(20);
    await story.after(40);
    expect(story.pods.filter(({ name, deleting }) => name.startsWith('low') && !deleting)).toEqual([]);
    story.terminateAll();
    await story.run();
    expect(story.bound).toEqual({ high: 'a' });
  });

  it('does not end with the deadline, so that no part of the group stays', async () => {
    const story = oneGang();
    story.pod('high', { cpu: 4, priority: 1000 });
    let isRefusing = true;
    story.fails = (verb, name) => (verb === 'delete' && name === 'low-2' && isRefusing ? unavailable() : undefined);
    await story.run();
    for (let i = 0; i < 20; i++) await story.after(10);
    expect(story.reserved).toEqual({});
    isRefusing = false;
    await story.after(300);
    expect(story.stored('low-2')!.deleting).toBe(true);
  });

  it('keeps its replacements from joining what is left of it', async () => {
    const story = oneGang();
    const tolerations = [{ key: 'only', operator: 'Exists' }];
    story.node('b', 4, { taints: ['only=low:NoSchedule'] });
    story.pod('high', { cpu: 4, priority: 1000 });
    story.holds = (verb, name) => verb === 'delete' && name !== 'low-0' && name !== 'low-1';
    await story.run();
    story.terminateAll();
    for (const name of ['again-0', 'again-1']) story.pod(name, { group: 'low', tolerations });
    await story.after(5);
    expect(Object.keys(story.bound).sort()).toEqual(['low-2', 'low-3']);
    await story.release();
    for (const name of ['again-2', 'again-3']) story.pod(name, { group: 'low', tolerations });
    await story.after(5);
    expect(story.bound).toEqual({ 'again-0': 'b', 'again-1': 'b', 'again-2': 'b', 'again-3': 'b' });
  });
});
