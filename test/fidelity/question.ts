/** An object as the API server returns it, in JSON. */
export type ApiObject = Readonly<Record<string, unknown>>;

/** One plugin, one cluster and one pod: the input for both kube-scheduler's code and Tutti's. All of it is JSON. */
export interface Question {
  readonly plugin: string;
  /** As the `args` of a pluginConfig entry; absent: the plugin's defaults. */
  readonly args?: ApiObject;
  /** v1 Nodes. */
  readonly nodes: readonly ApiObject[];
  /** Bound v1 Pods (with spec.nodeName). */
  readonly pods: readonly ApiObject[];
  /** Objects of other kinds that plugins look up, each with apiVersion and kind. */
  readonly objects?: readonly ApiObject[];
  /** The v1 Pod to schedule. */
  readonly pod: ApiObject;
  /** Pods added to their nodes between PreFilter and Filter, as members of the same plan are. Then nothing is scored. */
  readonly added?: readonly ApiObject[];
  /** uids of `pods` that are removed between PreFilter and Filter. Then nothing is scored. */
  readonly removed?: readonly string[];
  /** The pod with which a QueueSort plugin compares `pod`. Both have been in the queue since their creation. */
  readonly rival?: ApiObject;
}

export interface AnswerStatus {
  /** kube-scheduler's name of the code. */
  readonly code: string;
  readonly reasons?: readonly string[];
}

/** The result of each extension point; absent if the plugin does not have it or did not reach it. */
export interface Answer {
  readonly preEnqueue?: AnswerStatus;
  /** Less than 0: the pod goes before its rival; greater: after it. kube-scheduler returns 0 for equal rank. */
  readonly order?: number;
  readonly preFilter?: AnswerStatus;
  /** The only nodes that PreFilter leaves; absent: all. */
  readonly nodeNames?: readonly string[];
  /** node name -> why Filter rejected it; of the nodes that PreFilter left */
  readonly filter?: Readonly<Record<string, AnswerStatus>>;
  readonly preScore?: AnswerStatus;
  /** node name -> normalized score without the plugin's weight; of the nodes that were not rejected */
  readonly scores?: Readonly<Record<string, number>>;
  /** Why there are no scores. */
  readonly score?: AnswerStatus;
  /** Why the question is invalid: for example, the plugin rejects its arguments. */
  readonly error?: string;
}
