/** A deliberate difference between the embedded plane and a real server. */
export interface Limit {
  /** Group and case, as in `crud: an object needs a name`. */
  readonly case: string;
  /** Which of the case's requests, counted from 0. */
  readonly exchange: number;
  /** The place in the exchange, with everything below it; absent if all of it differs. */
  readonly at?: string;
  readonly why: string;
}

const goWording = 'the text comes from the Go decoder; the embedded plane reports the same with the path of the field';
const honestStatus =
  "a real server reports an internal error (500, without a reason); the embedded plane reports the client's mistake";
const storageWording = 'the text shows the key in etcd, which the embedded plane does not have';
const noCollectorFinalizers =
  'there is no garbage collector: Orphan releases the dependents at once, Foreground is rejected';
const schemaWording = 'the embedded plane reports the errors of its JSON Schema validator';
const warningsWithErrors = 'rejections have no warnings';
const fieldTable = 'the embedded plane checks the fields of built-in kinds by a table, with one message for each rule';
const fewerColumns = 'the embedded plane omits columns that do not apply to a simulated cluster';
const notChecked = 'the embedded plane does not check fields that neither the scheduler nor its own controllers read';
const fewerDefaults = 'the embedded plane omits defaults that none of its components reads';

/** Returns one limit for each of these requests of a case. */
function limited(name: string, exchanges: readonly number[], why: string, at?: string): Limit[] {
  return exchanges.map((exchange) => ({ case: name, exchange, why, ...(at !== undefined && { at }) }));
}

export const limits: readonly Limit[] = [
  {
    case: 'discovery: OpenAPI lists the parameters of a patch',
    exchange: 0,
    at: 'answer.parameters[3]',
    why: 'force is for server-side apply, which the embedded plane does not serve',
  },
  { case: 'crud: a new object must not have a resource version', exchange: 0, why: honestStatus },
  { case: 'crud: an object keeps its uid', exchange: 0, at: 'answer.message', why: storageWording },
  { case: 'crud: a body must be of the kind of the path', exchange: 0, at: 'answer.message', why: goWording },
  { case: 'crud: a body must be of the kind of the path', exchange: 1, at: 'answer.message', why: goWording },
  { case: 'crud: a value must be of the type of its field', exchange: 0, at: 'answer.message', why: goWording },
  { case: 'crud: a value must be of the type of its field', exchange: 1, at: 'answer.message', why: goWording },
  { case: 'crud: a value must be of the type of its field', exchange: 2, at: 'answer.message', why: goWording },
  {
    case: 'crud: a body in an unsupported format is rejected',
    exchange: 0,
    at: 'answer.message',
    why: 'the embedded plane reads JSON only, and says so',
  },
  ...[0, 1].map((exchange) => ({
    case: 'discovery: a resource that is not served is not found',
    exchange,
    at: 'answer.message',
    why: 'the embedded plane adds the resource that it does not serve',
  })),
  { case: 'locking: a resource version must be a number', exchange: 0, why: honestStatus },
  {
    case: 'watches: a bookmark follows the initial events',
    exchange: 0,
    at: 'answer[1].object.spec',
    why: 'a bookmark is no object of its kind; only its metadata means something',
  },
  {
    case: 'watches: a bookmark follows the initial events',
    exchange: 1,
    at: 'answer[1].object.spec',
    why: 'a bookmark is no object of its kind; only its metadata means something',
  },
  { case: 'watches: a resource version must be a number', exchange: 0, why: honestStatus },
  {
    case: 'patches: a strategic merge patch deletes and replaces by directive',
    exchange: 0,
    at: 'headers.warning',
    why: warningsWithErrors,
  },
  {
    case: 'patches: a strategic merge patch deletes and replaces by directive',
    exchange: 1,
    at: 'headers.warning',
    why: warningsWithErrors,
  },
  ...limited(
    'patches: a strategic merge patch deletes and replaces by directive',
    [1],
    'an empty key has one cause, not two',
    'answer.details.causes[2]',
  ),
  { case: 'patches: a strategic merge patch with a bad directive is rejected', exchange: 0, why: honestStatus },
  {
    case: 'deletion: propagationPolicy has a closed list of values',
    exchange: 0,
    at: 'answer.details.causes[0].message',
    why: noCollectorFinalizers,
  },
  {
    case: 'deletion: the policies Orphan and Foreground keep the object',
    exchange: 0,
    why: noCollectorFinalizers,
  },
  {
    case: 'deletion: the policies Orphan and Foreground keep the object',
    exchange: 1,
    why: noCollectorFinalizers,
  },
  { case: 'pods: amounts must be quantities', exchange: 0, at: 'answer.message', why: goWording },
  {
    case: 'pods: subresources that need a container are not served without a kubelet',
    exchange: 0,
    why: 'a real server answers nothing for a pod without a node; the embedded plane says that it has no containers',
  },
  { case: 'bindings: a binding may name the uid of the pod', exchange: 0, at: 'answer.message', why: storageWording },
  { case: 'bindings: a binding must name a node', exchange: 0, why: honestStatus },
  { case: 'bindings: a binding must name a node', exchange: 1, why: honestStatus },
  { case: 'bindings: a binding must name a node', exchange: 2, why: honestStatus },
  ...limited('native-gangs: a scheduling policy is either basic or a gang', [4], goWording, 'answer.message'),
  ...limited('native-gangs: minCount is a positive number', [3, 4], goWording, 'answer.message'),
  ...limited(
    'native-gangs: only the status subresource writes the status',
    [6],
    'the embedded plane does not protect a PodGroup with a finalizer while pods name it',
    'answer.rows[0].object.metadata.finalizers',
  ),
  {
    case: 'custom-resources: a CRD needs a structural schema',
    exchange: 0,
    at: 'answer.details.causes',
    why: schemaWording,
  },
  {
    case: 'custom-resources: a CRD needs a structural schema',
    exchange: 1,
    at: 'answer.details.causes[0].message',
    why: schemaWording,
  },
  {
    case: 'custom-resources: a CRD has exactly one storage version',
    exchange: 0,
    at: 'answer.details.causes',
    why: 'a real server prints its own structures, and a second cause that follows from the first',
  },
  {
    case: 'custom-resources: values are validated against the schema',
    exchange: 3,
    at: 'answer.details.causes',
    why: 'a real server says twice, once without a field, that a fraction is no integer',
  },
  {
    case: 'custom-resources: CEL rules between fields are validated',
    exchange: 0,
    why: 'rules in CEL are not supported; a definition that has some is rejected, so that none is ignored',
  },
  ...limited(
    'custom-resources: a kind must match the CRD',
    [0],
    'the embedded plane reports a wrong kind as a bad request',
  ),
  {
    case: 'custom-resources: a kind must match the CRD',
    exchange: 1,
    at: 'headers.warning',
    why: warningsWithErrors,
  },
  ...limited('custom-resources: a kind must match the CRD', [1], goWording, 'answer.message'),
  {
    case: 'custom-resources: a kind must match the CRD',
    exchange: 2,
    at: 'answer.message',
    why: goWording,
  },
  {
    case: 'events-and-leases: a lease keeps its times with microseconds',
    exchange: 2,
    at: 'answer.message',
    why: goWording,
  },
  { case: 'events-and-leases: the times of a lease must be valid', exchange: 0, at: 'answer.message', why: goWording },
  {
    case: 'nodes-and-priorities: a node keeps the status that it is created with',
    exchange: 0,
    at: 'answer.spec.taints',
    why: 'new nodes are not tainted: there is no controller that would see that they are ready and take the taint off',
  },
  ...limited('lists: a table has a row for each object', [0], fewerColumns, 'answer.columnDefinitions[8]'),
  ...[0, 1]
    .map((row) =>
      limited('lists: a table has a row for each object', [0], fewerColumns, `answer.rows[${row}].cells[8]`),
    )
    .flat(),
  ...limited('lists: a table has a row for each object', [1], fewerColumns, 'answer.cells[0][8]'),
  ...limited(
    'events-and-leases: Events are selected by their object',
    [4],
    'Events are selected by reportingComponent',
  ),
  ...limited('events-and-leases: Events have a table', [0], fewerColumns, 'answer'),
  ...limited('events-and-leases: the times of a lease must be valid', [2], notChecked),
  ...limited('nodes-and-priorities: taints must be well formed', [2], fieldTable, 'answer.details.causes'),
  ...limited('nodes-and-priorities: a node is cordoned and uncordoned', [2], fewerColumns, 'answer'),
  ...limited(
    'nodes-and-priorities: a priority class is created and keeps its value',
    [1],
    fieldTable,
    'answer.details.causes',
  ),
  ...limited(
    "nodes-and-priorities: names and values of the system's priority classes are reserved",
    [0],
    fieldTable,
    'answer.details.causes',
  ),
  ...limited('workloads: a deployment gets its defaults', [0, 2, 3], fewerDefaults, 'answer.spec.strategy'),
  ...limited(
    'workloads: a deployment gets its defaults',
    [3],
    'annotations of a Deployment do not change its pods',
    'answer.metadata.generation',
  ),
  ...['daemonEndpoints', 'nodeInfo'].flatMap((field) => [
    ...limited(
      'nodes-and-priorities: a node keeps the status that it is created with',
      [0],
      fewerDefaults,
      `answer.status.${field}`,
    ),
    ...limited(
      'nodes-and-priorities: a node keeps the status that it is created with',
      [2],
      fewerDefaults,
      `answer.${field}`,
    ),
    ...limited(
      'nodes-and-priorities: the status path of a node changes only the status',
      [0],
      fewerDefaults,
      `answer.status.${field}`,
    ),
  ]),
  ...limited(
    'deletion: a terminating namespace accepts no new objects',
    [1],
    'the message has the only cause',
    'answer.details.causes',
  ),
  ...limited('lists: a table may hold whole objects or none', [2], 'the embedded plane always includes the metadata'),
  ...limited(
    'deletion: propagationPolicy has a closed list of values',
    [1],
    'the embedded plane does not support the deprecated field orphanDependents',
    'answer.details.causes',
  ),
  ...limited(
    'workloads: a deployment must select its own pods and keep its selector',
    [2],
    fieldTable,
    'answer.details.causes',
  ),
  ...limited(
    'workloads: a disruption budget has either minAvailable or maxUnavailable',
    [2],
    fieldTable,
    'answer.details.causes',
  ),
  ...limited(
    'workloads: a disruption budget has either minAvailable or maxUnavailable',
    [3],
    fieldTable,
    'answer[0][1]',
  ),
  ...limited('jobs: a job gets its defaults and its own selector', [2], fewerDefaults, 'answer.spec.backoffLimit'),
  ...limited('storage: CSINodes and CSIDrivers are stored', [2], fewerDefaults, 'answer.spec'),
  ...limited('jobs: a job is validated', [5, 6], notChecked),
  ...limited(
    'jobs: a job is validated',
    [7, 8, 9],
    'the embedded plane generates the labels of a Job, and does not check them',
  ),
  ...limited('jobs: the template and the completions of a job are immutable', [6], fieldTable, 'answer.details.causes'),
  ...limited('storage: a claim gets its defaults and is pending', [1, 2], fieldTable, 'answer.details.causes'),
  ...limited('storage: a volume keeps its claimRef', [0, 1], fewerDefaults, 'answer.spec.hostPath.type'),
  ...limited('storage: a volume keeps its claimRef', [0, 1], fewerDefaults, 'answer.status.lastPhaseTransitionTime'),
  ...limited(
    'custom-resources: values are validated against the schema',
    [7, 8, 10],
    schemaWording,
    'answer.details.causes',
  ),
  ...limited('custom-resources: lists may be sets or maps', [1], schemaWording, 'answer.details.causes'),
  ...limited(
    'patches: a JSON patch applies its operations in order',
    [0],
    'the operations move and copy are not supported',
  ),
  ...limited(
    'watches: sendInitialEvents needs a resourceVersionMatch',
    [1],
    'the embedded plane ignores a match that changes nothing',
  ),
  ...limited('pods: policies have a closed list of values', [1], fieldTable, 'answer.details.causes'),
  ...limited(
    'pods: the selector of a gated pod may be narrowed',
    [1],
    'the embedded plane lets the node selector of a gated pod change in any way',
  ),
  ...limited('crud: annotations and finalizers must be well formed', [1, 2], notChecked),
  ...limited(
    'lists: unsupported field selectors are rejected',
    [1],
    'a real server lists the selectable fields of kinds that have only those of metadata',
    'answer.message',
  ),
];
