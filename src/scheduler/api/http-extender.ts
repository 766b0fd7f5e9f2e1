import type { Node } from '../../api/node.ts';
import type { Clock } from '../../base/clock.ts';
import { TimeoutError } from '../../client/api-errors.ts';
import { DialError } from '../../client/http/dial.ts';
import { readText } from '../../client/read-text.ts';
import { AnswerTooLongError } from '../../client/transport.ts';
import type { Transport, TransportRequest } from '../../client/transport.ts';
import type { WriteFence } from '../../client/write-fence.ts';
import type { ExtenderConfiguration } from '../../config/scheduler-configuration.ts';
import type { Extender, WholePod } from '../../framework/extender.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { CallSlots } from './call-slots.ts';
import type { ExtenderBinding } from './extender-binding.ts';
import {
  bindingArgs,
  ExtenderAnswerError,
  extenderArgs,
  readBindingResult,
  readFilterResult,
  readHostPriorities,
} from './extender-wire.ts';
import type { WholeObjects } from './whole-objects.ts';

export interface HttpExtenderOptions {
  readonly configuration: ExtenderConfiguration;
  /** For messages. */
  readonly name: string;
  /** To `urlPrefix`. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly objects: Pick<WholeObjects, 'node'>;
  readonly binding: Pick<ExtenderBinding, 'bind'>;
  /** Stops the binds of a process that does not lead. Absent: it may always bind. */
  readonly fence?: WriteFence | undefined;
}

/** An extender that can do one thing at a time has to get through them all within a time-out. */
const callsAtOnce = 8;
/** More than the whole nodes of the largest clusters; a longer answer could take all memory. */
const mostBytes = 128 << 20;
const headers = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'tutti-scheduler' };

/** A scheduler extender of Kubernetes: POST of JSON to a verb under its URL, eight at a time, each within its time-out. */
export function httpExtender(options: HttpExtenderOptions): Extender {
  const { configuration, name, binding, fence } = options;
  const { filterVerb, prioritizeVerb, bindVerb } = configuration;
  const slots = new CallSlots(callsAtOnce);
  const ask = (verb: string, body: string, signal: AbortSignal): Promise<unknown> =>
    slots.run(() => post(options, { verb, body, isRead: true }, signal), signal);
  const bind = (verb: string, pod: PodBinding, signal: AbortSignal): Promise<unknown> =>
    slots.run(() => {
      const { mayBeSent: isWanted } = pod;
      const reported = { verb, body: bindingArgs(pod), isRead: false };
      if (fence === undefined) return post(options, { ...reported, mayBeSent: isWanted }, signal);
      const send = (isLeading: () => void, cut: AbortSignal): Promise<unknown> => {
        const mayBeSent = (): void => {
          isWanted?.();
          isLeading();
        };
        return post(options, { ...reported, mayBeSent }, AbortSignal.any([signal, cut]));
      };
      return fence.pass(send, (error) => !(error instanceof ExtenderAnswerError));
    }, signal);
  const args = (pod: WholePod, nodes: readonly Node[]): string =>
    extenderArgs(
      pod.json,
      configuration.nodeCacheCapable
        ? { names: nodes.map((node) => node.name) }
        : { json: nodes.map((node) => options.objects.node(node)) },
    );
  return {
    name,
    isIgnorable: configuration.ignorable,
    managedResources: configuration.managedResources.map((resource) => resource.name),
    weight: configuration.weight,
    ...(filterVerb !== undefined && {
      filter: async (pod, nodes, signal) => {
        const answer = await ask(filterVerb, args(pod, nodes), signal);
        return readFilterResult(answer, new Set(nodes.map((node) => node.name)), configuration.nodeCacheCapable);
      },
    }),
    ...(prioritizeVerb !== undefined && {
      prioritize: async (pod, nodes, signal) => readHostPriorities(await ask(prioritizeVerb, args(pod, nodes), signal)),
    }),
    ...(bindVerb !== undefined && {
      bind: (pod, signal) =>
        binding.bind(pod, async () => readBindingResult(await bind(bindVerb, pod, signal)), signal),
    }),
  };
}

interface ExtenderCall extends Pick<TransportRequest, 'mayBeSent'> {
  readonly verb: string;
  readonly body: string;
  /** Asking twice does no harm, so a connection that is lost before an answer is tried anew, once. */
  readonly isRead: boolean;
}

/** The answer's JSON. */
async function post(
  { transport, clock, configuration }: HttpExtenderOptions,
  { verb, body, isRead, mayBeSent }: ExtenderCall,
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted();
  const late = new AbortController();
  const timer = clock.setTimer(configuration.httpTimeoutMs, () => {
    const within = `${configuration.httpTimeoutMs / 1000} s`;
    late.abort(new TimeoutError(`no answer within ${within} (httpTimeout)`, { ambiguous: !isRead }));
  });
  const either = AbortSignal.any([signal, late.signal]);
  const path = `/${encodeURI(verb)}`;
  const send = async (): Promise<unknown> => {
    const response = await transport.send({ method: 'POST', path, headers, body, mostBytes, mayBeSent }, either);
    const text = await readText(response.body, mostBytes);
    const { location, 'content-encoding': coding = 'identity' } = response.headers;
    if (response.status >= 300 && response.status < 400 && location !== undefined) {
      throw new ExtenderAnswerError(
        `${verb} was answered with status ${response.status}, which leads to ${location}: give the address that answers as urlPrefix`,
      );
    }
    if (coding !== 'identity') {
      throw new ExtenderAnswerError(`${verb} was answered in the coding ${coding}, which was not asked for`);
    }
    if (response.status !== 200) {
      throw new ExtenderAnswerError(
        `${verb} was answered with status ${response.status}: ${text.trim().slice(0, 200)}`,
      );
    }
    return parsed(text, verb);
  };
  try {
    return await send();
  } catch (error) {
    either.throwIfAborted();
    if (error instanceof AnswerTooLongError) {
      throw new ExtenderAnswerError(`${verb} was answered with more than ${mostBytes >> 20} MiB`, { cause: error });
    }
    if (!isRead || error instanceof ExtenderAnswerError || error instanceof DialError) throw error;
    return await send();
  } finally {
    timer.cancel();
  }
}

function parsed(text: string, verb: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ExtenderAnswerError(
      `${verb} was answered with something that is not JSON: ${text.trim().slice(0, 100)}`,
      {
        cause,
      },
    );
  }
}
