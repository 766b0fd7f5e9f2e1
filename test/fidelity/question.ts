/** An object as the API server returns it: what JSON holds. */
export type ApiObject = Readonly<Record<string, unknown>>;

/** One plugin, one cluster and one pod: what kube-scheduler's code and Tutti's are both asked. All of it is JSON. */
export interface Question {
  readonly plugin: string;
  /** As the `args` of a pluginConfig entry; absent: the plugin's defaults. */
  readonly args?: ApiObject;
  /** v1 Nodes. */
  readonly nodes: readonly ApiObject[];
  /** v1 Pods that are on a node (spec.nodeName). */
  readonly pods: readonly ApiObject[];
  /** Objects of other kinds that plugins look up, each with apiVersion and kind. */
  readonly objects?: readonly ApiObject[];
  /** The v1 Pod that waits for a node. */
  readonly pod: ApiObject;
  /** Pods that come onto their nodes between PreFilter and Filter, as members of the same plan do. Then nothing is scored. */
  readonly added?: readonly ApiObject[];
  /** uids of `pods` that go between PreFilter and Filter. Then nothing is scored. */
  readonly removed?: readonly string[];
  /** The pod that a plugin which sorts the queue compares `pod` with. Both are in the queue since they were created. */
  readonly rival?: ApiObject;
}

export interface Said {
  /** kube-scheduler's name of the code. */
  readonly code: string;
  readonly reasons?: readonly string[];
}

/** What each point of the plugin said; a point that it does not have, or that was not reached, is absent. */
export interface Answer {
  readonly preEnqueue?: Said;
  /** Less than 0: the pod goes before its rival, greater: after it. kube-scheduler says 0 of equals. */
  readonly order?: number;
  readonly preFilter?: Said;
  /** The only nodes that PreFilter leaves; absent: all. */
  readonly nodeNames?: readonly string[];
  /** node name -> why Filter rejected it; of those that PreFilter left */
  readonly filter?: Readonly<Record<string, Said>>;
  readonly preScore?: Said;
  /** node name -> normalised score without the plugin's weight; of the nodes that it did not reject */
  readonly scores?: Readonly<Record<string, number>>;
  /** Why there are no scores. */
  readonly score?: Said;
  /** Why the question could not be put: the plugin rejects its arguments, for example. */
  readonly error?: string;
}
