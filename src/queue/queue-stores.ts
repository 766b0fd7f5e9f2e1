import type { BackoffPolicy } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { Heap } from '../base/heap.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { Status } from '../framework/status.ts';
import { AttemptsUnderWay } from './attempts-under-way.ts';
import { BackoffStore } from './backoff-store.ts';
import { ClassRetries } from './equivalence/class-retries.ts';
import { EquivalenceClasses } from './equivalence/equivalence-classes.ts';
import type { EquivalenceClass } from './equivalence/equivalence-class.ts';
import type { Joining } from './equivalence/equivalence-classes.ts';
import { GatedEntities } from './gated-entities.ts';
import type { QueueObserver, QueuePolicy } from './queue-policy.ts';
import { forgetRejection } from './queued-entity.ts';
import type { QueuedEntity } from './queued-entity.ts';

export interface QueueStoresOptions {
  readonly clock: Clock;
  readonly policy: QueuePolicy;
  readonly observer: QueueObserver;
  readonly backoff: BackoffPolicy;
}

/** The stores of the queue. Each method that moves an entity into a store sets its state and notifies the observer. */
export class QueueStores {
  readonly underWay = new AttemptsUnderWay();
  readonly classes: EquivalenceClasses;
  readonly retries: ClassRetries;
  readonly #policy: QueuePolicy;
  readonly #observer: QueueObserver;
  readonly #active: Heap<QueuedEntity>;
  readonly #backingOff: BackoffStore;
  readonly #gated = new GatedEntities();

  constructor({ clock, policy, observer, backoff }: QueueStoresOptions) {
    this.#policy = policy;
    this.#observer = observer;
    const compare: QueuePolicy['compare'] = (a, b) => policy.compare(a, b);
    this.#active = new Heap((a, b) => compare(a.sortKey, b.sortKey));
    this.#backingOff = new BackoffStore({
      clock,
      policy: backoff,
      compare,
      onEnd: (entity) => this.activate(entity, 'BackoffComplete'),
    });
    this.classes = new EquivalenceClasses({ clock, compare });
    this.retries = new ClassRetries({
      classes: this.classes,
      clock,
      compare,
      firstActive: () => this.#active.peek()?.sortKey,
      requeue: (entity, event, skipsBackoff) => {
        if (skipsBackoff) this.activate(entity, event);
        else this.backOff(entity, event, false);
      },
    });
  }

  /** Number of entities per store, by the label values of the pending_pods metric. */
  get sizes(): Readonly<Record<'active' | 'backoff' | 'unschedulable' | 'gated', number>> {
    return {
      active: this.#active.size,
      backoff: this.#backingOff.size,
      unschedulable: this.classes.size,
      gated: this.#gated.size,
    };
  }

  activate(entity: QueuedEntity, event: string): void {
    entity.state = { kind: 'active' };
    this.#active.push(entity);
    this.#observer.moved('active', event);
    this.#observer.ready();
  }

  /** Moves the entity to the backoff queue for the rest of its backoff, or to the active queue if none is left. */
  backOff(entity: QueuedEntity, event: string, afterError: boolean): void {
    if (!this.#backingOff.add(entity, afterError)) {
      this.activate(entity, event);
      return;
    }
    this.#observer.moved('backoff', event);
    if (!afterError) this.#observer.ready();
  }

  /** Gates an entity that PreEnqueue rejected. Its pods get that reason, so its next attempt must find the current one. */
  gate(entity: QueuedEntity, status: Status, event: string): void {
    if (entity.state.kind !== 'gated') this.#observer.moved('gated', event);
    this.#gated.add(entity, status.plugin, this.#policy.hints(entity.schedulingEntity));
    entity.state = { kind: 'gated', status };
    if (entity.rejection.unschedulablePlugins.size > 0) forgetRejection(entity);
    this.#observer.gated(entity, status);
  }

  ungate(entity: QueuedEntity): void {
    this.#gated.remove(entity);
  }

  /** Returns the gated entities that their plugin may accept after the event. */
  ungatedBy(event: ClusterEvent): readonly QueuedEntity[] {
    return this.#gated.size === 0 ? [] : this.#gated.helpedBy(event);
  }

  /** Moves an unschedulable entity to its equivalence class. */
  park(entity: QueuedEntity, joining: Joining): void {
    const before = this.classes.of(entity);
    const joined = this.classes.add(entity, joining, this.#policy.hints(entity.schedulingEntity));
    this.#observer.moved('unschedulable', 'ScheduleAttemptFailure');
    if (before !== undefined && before !== joined) this.retries.next(before);
  }

  /** Activates the representative of a class that an entity has joined, whatever is left of its backoff. */
  bringForward(of: EquivalenceClass): void {
    if (of.isWoken) this.retries.send(of, 'EqualArrived');
    const { representative } = of;
    if (representative?.state.kind !== 'backoff') return;
    this.#backingOff.leave(representative.state);
    this.activate(representative, 'EqualArrived');
  }

  /** Removes and returns the next entity: the first active one, otherwise one in backoff after a rejection. */
  take(): QueuedEntity | undefined {
    this.retries.sendDue();
    const entity = this.#active.pop() ?? this.#backingOff.takeEarly();
    if (entity !== undefined) this.retries.left(entity);
    return entity;
  }

  /** Removes the entity from its store; the caller sets its new state. */
  leave(entity: QueuedEntity): void {
    switch (entity.state.kind) {
      case 'active':
        this.#active.remove(entity);
        this.retries.left(entity);
        break;
      case 'backoff':
        this.#backingOff.leave(entity.state);
        break;
      case 'unschedulable':
        this.classes.leave(entity, entity.state);
        break;
      case 'gated':
        this.#gated.remove(entity);
        break;
      case 'setAside':
        this.underWay.leave(entity);
        break;
      case 'inFlight':
        break;
    }
  }

  /** No backoff ends after that. */
  stop(): void {
    this.#backingOff.stop();
  }
}
