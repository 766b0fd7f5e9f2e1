/** A place where the embedded plane answers otherwise than a real server, knowingly. */
export interface Limit {
  /** Group and case, as in `crud: an object needs a name`. */
  readonly case: string;
  /** Which of the case's requests, counted from 0. */
  readonly exchange: number;
  /** Where in the exchange, with everything below; absent where all of it differs. */
  readonly at?: string;
  readonly why: string;
}

const goWording = 'the text is that of the Go decoder; the embedded plane says the same with the path of the field';
const honestStatus =
  'a real server calls this its own failure (500, without a reason); the embedded plane says what the client did wrong';
const storageWording = 'the text shows the key in etcd, which the embedded plane has not';
const noCollectorFinalizers =
  'nobody collects garbage later: Orphan lets go of the dependants at once, Foreground is rejected';
const schemaWording = 'every broken rule is reported, at its place in the version it stands in and in reading order';
const warningsWithErrors = 'what is rejected comes without warnings';

export const limits: readonly Limit[] = [
  {
    case: 'discovery: OpenAPI tells which parameters a patch takes',
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
    case: 'crud: a body in a format that the server does not read is rejected',
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
  { case: 'locking: a version must be a number', exchange: 0, why: honestStatus },
  {
    case: 'watches: a bookmark ends what there is at the start',
    exchange: 0,
    at: 'answer[1].object.spec',
    why: 'a bookmark is no object of its kind; only its metadata means something',
  },
  {
    case: 'watches: a bookmark ends what there is at the start',
    exchange: 1,
    at: 'answer[1].object.spec',
    why: 'a bookmark is no object of its kind; only its metadata means something',
  },
  { case: 'watches: a version must be a number', exchange: 0, why: honestStatus },
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
    case: 'deletion: what becomes of dependants has a closed list of ways',
    exchange: 0,
    at: 'answer.details.causes[0].message',
    why: noCollectorFinalizers,
  },
  {
    case: 'deletion: orphaning and waiting for dependants hold the object',
    exchange: 0,
    why: noCollectorFinalizers,
  },
  {
    case: 'deletion: orphaning and waiting for dependants hold the object',
    exchange: 1,
    why: noCollectorFinalizers,
  },
  { case: 'pods: amounts must be quantities', exchange: 0, at: 'answer.message', why: goWording },
  {
    case: 'pods: what needs a container is not served without a kubelet',
    exchange: 0,
    why: 'a real server answers nothing for a pod without a node; the embedded plane says that it has no containers',
  },
  { case: 'bindings: a binding may name the uid of the pod', exchange: 0, at: 'answer.message', why: storageWording },
  { case: 'bindings: a binding names a node', exchange: 0, why: honestStatus },
  { case: 'bindings: a binding names a node', exchange: 1, why: honestStatus },
  { case: 'bindings: a binding names a node', exchange: 2, why: honestStatus },
  {
    case: 'custom-resources: a definition needs a structural schema',
    exchange: 0,
    at: 'answer.details.causes',
    why: schemaWording,
  },
  {
    case: 'custom-resources: a definition needs a structural schema',
    exchange: 1,
    at: 'answer.details.causes[0].message',
    why: schemaWording,
  },
  {
    case: 'custom-resources: a definition has one version that is stored',
    exchange: 0,
    at: 'answer.details.causes',
    why: 'a real server prints its own structures, and a second cause that follows from the first',
  },
  {
    case: 'custom-resources: values are checked against the schema',
    exchange: 3,
    at: 'answer.details.causes',
    why: 'a real server says twice, once without a field, that a fraction is no integer',
  },
  {
    case: 'custom-resources: values are checked against the schema',
    exchange: 12,
    at: 'answer.details.causes',
    why: 'a real server also takes 0 for a multipleOf that is not positive',
  },
  {
    case: 'custom-resources: rules between fields are checked',
    exchange: 0,
    why: 'rules in CEL are not supported; a definition that has some is rejected, so that none is ignored',
  },
  {
    case: 'custom-resources: a kind must be that of the definition',
    exchange: 1,
    at: 'headers.warning',
    why: warningsWithErrors,
  },
  {
    case: 'custom-resources: a kind must be that of the definition',
    exchange: 2,
    at: 'answer.message',
    why: goWording,
  },
  {
    case: 'events-and-leases: a lease keeps its times to the microsecond',
    exchange: 2,
    at: 'answer.message',
    why: goWording,
  },
  { case: 'events-and-leases: the times of a lease must be times', exchange: 0, at: 'answer.message', why: goWording },
  {
    case: 'nodes-and-priorities: a node keeps the status that it is made with',
    exchange: 0,
    at: 'answer.spec.taints',
    why: 'new nodes are not tainted: there is no controller that would see that they are ready and take the taint off',
  },
];
