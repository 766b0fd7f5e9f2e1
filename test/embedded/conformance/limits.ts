/** A place where the embedded plane deliberately responds differently from a real server. */
export interface Limit {
  /** Group and case, as in `crud: an object needs a name`. */
  readonly case: string;
  /** Index of the case's request, from 0. */
  readonly exchange: number;
  /** Place in the exchange, including everything below; absent when all of it differs. */
  readonly at?: string;
  readonly why: string;
}

const goWording = 'the text comes from the Go decoder; the embedded plane reports the same with the path of the field';
const honestStatus =
  "a real server reports an internal error (500, without a reason); the embedded plane reports the client's mistake";
const storageWording = 'the text shows the key in etcd, which the embedded plane does not have';
const noCollectorFinalizers =
  'there is no garbage collector: Orphan releases the dependents at once, Foreground is rejected';
const schemaWording = 'every broken rule is reported with its place in the CRD, in reading order';
const warningsWithErrors = 'rejections have no warnings';

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
    why: 'the embedded plane reads only JSON, and its message says so',
  },
  ...[0, 1].map((exchange) => ({
    case: 'discovery: a resource that is not served is not found',
    exchange,
    at: 'answer.message',
    why: 'the embedded plane names the resource that it does not serve',
  })),
  { case: 'locking: a resource version must be a number', exchange: 0, why: honestStatus },
  {
    case: 'watches: a bookmark follows the initial events',
    exchange: 0,
    at: 'answer[1].object.spec',
    why: 'a bookmark is not a full object; only its metadata is meaningful',
  },
  {
    case: 'watches: a bookmark follows the initial events',
    exchange: 1,
    at: 'answer[1].object.spec',
    why: 'a bookmark is not a full object; only its metadata is meaningful',
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
    why: 'a real server returns nothing for a pod without a node; the embedded plane reports that it has no containers',
  },
  { case: 'bindings: a binding may name the uid of the pod', exchange: 0, at: 'answer.message', why: storageWording },
  { case: 'bindings: a binding must name a node', exchange: 0, why: honestStatus },
  { case: 'bindings: a binding must name a node', exchange: 1, why: honestStatus },
  { case: 'bindings: a binding must name a node', exchange: 2, why: honestStatus },
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
    why: 'a real server prints internal structures, and a second cause that follows from the first',
  },
  {
    case: 'custom-resources: values are validated against the schema',
    exchange: 3,
    at: 'answer.details.causes',
    why: 'a real server reports twice, once without a field, that a fraction is not an integer',
  },
  {
    case: 'custom-resources: values are validated against the schema',
    exchange: 12,
    at: 'answer.details.causes',
    why: 'a real server also accepts 0 for a multipleOf that must be positive',
  },
  {
    case: 'custom-resources: CEL rules between fields are validated',
    exchange: 0,
    why: 'CEL rules are not supported; a CRD that has some is rejected, so that none is ignored',
  },
  {
    case: 'custom-resources: a kind must match the CRD',
    exchange: 1,
    at: 'headers.warning',
    why: warningsWithErrors,
  },
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
    why: 'new nodes are not tainted: no controller would remove the taint once they are ready',
  },
];
