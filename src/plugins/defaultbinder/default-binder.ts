import { messageOf } from '../../base/message-of.ts';
import type { Pod } from '../../api/pod.ts';
import { WithdrawnError } from '../../client/api-errors.ts';
import { bindingTerms } from '../../framework/binding-terms.ts';
import { withoutNodeNames } from '../../framework/names-for-users.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { PodBinder } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { noArguments } from '../plugin-arguments.ts';

const name = 'DefaultBinder';

/**
 * Binds through the API. If the binder rejects, the Error status keeps the error as its cause, so that the binding cycle can tell a
 * conflict from a lost response.
 */
class DefaultBinder implements Plugin {
  readonly name = name;
  readonly #binder: PodBinder;

  constructor(binder: PodBinder) {
    this.#binder = binder;
  }

  async bind(state: CycleState, pod: Pod, nodeName: string, signal: AbortSignal): Promise<Status | undefined> {
    const { namespace, name: podName, uid } = pod;
    try {
      await this.#binder.bind({ namespace, name: podName, uid, nodeName, ...bindingTerms(state) }, signal);
      return undefined;
    } catch (error) {
      const problem = messageOf(error);
      if (error instanceof WithdrawnError) return new Status('Unschedulable', problem, name, error);
      // The user cannot see a node on which the pod is not.
      const shown = withoutNodeNames(problem, (word) => word === nodeName);
      return new Status('Error', `binding rejected: ${shown}`, name, error);
    }
  }
}

export const createDefaultBinder: PluginFactory = (args, handle) => {
  noArguments(name).read(args);
  return new DefaultBinder(handle.binder);
};
