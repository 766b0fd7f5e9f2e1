import fc from 'fast-check';
import type { JsonObject } from '../../../src/plane/apiserver/json.ts';
import type { AppliedKind } from './applied-kinds.ts';

/** One write of a sequence. */
export type ApplyStep =
  | {
      readonly do: 'apply';
      readonly manager: string;
      readonly force: boolean;
      readonly config: JsonObject;
      readonly status?: boolean;
    }
  | {
      /** By a merge patch, or where there is one for the kind, by a strategic one. */
      readonly do: 'merge' | 'strategic';
      readonly manager: string;
      readonly patch: JsonObject;
      readonly status?: boolean;
    }
  /** Reads the object, and puts it with what `merge` would change. */
  | { readonly do: 'replace'; readonly manager: string; readonly patch: JsonObject };

/** Sequences of writes by a few managers, an apply first or not. */
export function stepsOf({ content, status, isCustom }: AppliedKind): fc.Arbitrary<ApplyStep[]> {
  const manager = fc.constantFrom('ann', 'ben', 'cid');
  const patch = fc.constantFrom('merge' as const, isCustom === true ? ('merge' as const) : ('strategic' as const));
  const steps: fc.Arbitrary<ApplyStep>[] = [
    fc.record({ do: fc.constant('apply' as const), manager, force: fc.boolean(), config: content }),
    fc.record({ do: fc.constant('apply' as const), manager, force: fc.boolean(), config: content }),
    fc.record({ do: patch, manager, patch: content }),
    fc.record({ do: fc.constant('replace' as const), manager, patch: content }),
  ];
  if (status !== undefined) {
    const isStatus = fc.constant(true);
    steps.push(
      fc.record({ do: fc.constant('apply' as const), manager, force: fc.boolean(), config: status, status: isStatus }),
      fc.record({ do: patch, manager, patch: status, status: isStatus }),
    );
  }
  return fc.array(fc.oneof(...steps), { minLength: 2, maxLength: 8 });
}
