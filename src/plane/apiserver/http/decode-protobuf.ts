import { Buffer } from 'node:buffer';
import { ProtobufError, WireReader } from '../../../base/wire-reader.ts';
import type { WireValue } from '../../../base/wire-reader.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';

/** The message has a kind or field that this server does not know, and so cannot store. */
export class UnknownFieldError extends Error {
  override readonly name = 'UnknownFieldError';
}

/**
 * The messages that kubectl 1.32 and later send for `kubectl create KIND`, whose typed clients send protobuf only. Each line is a model
 * of the client library, with its fields and their numbers in k8s.io/api. `*` marks a field where zero differs from unset. The server
 * ignores a field without a name.
 */
const messageLines: readonly string[] = [
  'V1ConfigMap metadata:1 data:2 binaryData:3 immutable:4*',
  'V1Container name:1 image:2 command:3 args:4 workingDir:5 ports:6 env:7 resources:8 imagePullPolicy:14',
  'V1ContainerPort name:1 hostPort:2 containerPort:3 protocol:4 hostIP:5',
  'V1DeleteOptions gracePeriodSeconds:1* preconditions:2* orphanDependents:3* propagationPolicy:4 dryRun:5',
  'V1Deployment metadata:1 spec:2 :3',
  'V1DeploymentSpec replicas:1* selector:2* template:3 strategy:4 minReadySeconds:5 revisionHistoryLimit:6* progressDeadlineSeconds:9*',
  'V1DeploymentStrategy type:1',
  'V1EnvVar name:1 value:2',
  'V1Eviction metadata:1 deleteOptions:2',
  'V1Job metadata:1 spec:2 :3',
  'V1JobSpec parallelism:1* completions:2* activeDeadlineSeconds:3* selector:4 manualSelector:5* template:6 backoffLimit:7* ttlSecondsAfterFinished:8* completionMode:9 suspend:10*',
  'V1LabelSelector matchLabels:1 matchExpressions:2',
  'V1LabelSelectorRequirement key:1 operator:2 values:3',
  'V1Namespace metadata:1 spec:2 :3',
  'V1NamespaceSpec finalizers:1',
  'V1ObjectMeta name:1 generateName:2 namespace:3 uid:5 resourceVersion:6 creationTimestamp:8 labels:11 annotations:12 finalizers:14',
  'V1PodDisruptionBudget metadata:1 spec:2 :3',
  'V1PodDisruptionBudgetSpec minAvailable:1 selector:2 maxUnavailable:3',
  'V1PodSpec containers:2 restartPolicy:3 terminationGracePeriodSeconds:4* nodeSelector:7 serviceAccountName:8 serviceAccount:9 securityContext:14 schedulerName:19 initContainers:20 priorityClassName:24',
  'V1PodTemplateSpec metadata:1 spec:2',
  'V1Preconditions uid:1 resourceVersion:2',
  'V1PriorityClass metadata:1 value:2* globalDefault:3 description:4 preemptionPolicy:5',
  'V1ResourceRequirements limits:1 requests:2',
  'V1Service metadata:1 spec:2 :3',
  'V1ServiceAccount metadata:1',
  'V1ServicePort name:1 protocol:2 port:3 targetPort:4 nodePort:5',
  'V1ServiceSpec ports:1 selector:2 clusterIP:3 type:4 externalIPs:5 sessionAffinity:7 loadBalancerIP:8 externalName:10',
];

interface Field {
  readonly name: string;
  readonly keepsZero: boolean;
}

/** model -> field number -> field */
const messages = new Map(
  messageLines.map((line) => {
    const [model = '', ...words] = line.split(' ');
    const fields = words.map((word): [number, Field] => {
      const [name = '', number = ''] = word.split(':');
      return [parseInt(number, 10), { name, keepsZero: number.endsWith('*') }];
    });
    return [model, new Map(fields)] as const;
  }),
);

/** First bytes of every protobuf body of the API. */
const magic = [0x6b, 0x38, 0x73, 0];

/**
 * Reads a body of type application/vnd.kubernetes.protobuf: four bytes, then an envelope that holds the object's apiVersion, its kind
 * and the object. Throws ProtobufError for an invalid body, and UnknownFieldError for a kind or a field that this server does not know.
 */
export function decodeProtobuf(bytes: Uint8Array): JsonObject {
  if (!magic.every((byte, index) => bytes[index] === byte)) {
    throw new ProtobufError('it does not begin with "k8s" and a zero byte');
  }
  const envelope = parts(bytes.subarray(magic.length));
  const typeMeta = parts(bytesOf(envelope.get(1)));
  const [apiVersion, kind] = [text(typeMeta.get(1)), text(typeMeta.get(2))];
  if (!messages.has(`V1${kind}`) || !/^(.*\/)?v1$/.test(apiVersion)) {
    throw new UnknownFieldError(`${kind} of ${JSON.stringify(apiVersion)} is not supported in protobuf`);
  }
  return { apiVersion, kind, ...message(bytesOf(envelope.get(2)), `V1${kind}`, kind) };
}

function message(bytes: Uint8Array, model: string, path: string): JsonObject {
  const fields = messages.get(model);
  const found = new Map<string, JsonValue>();
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { number, value } = reader.field();
    const field = fields?.get(number);
    if (field?.name === '') continue;
    const type = field && modelFields(model)?.get(field.name);
    // Go sends unset fields, too. An unknown field that is zero or empty loses nothing.
    if (type !== undefined) add(found, field!, type, value, `${path}.${field!.name}`);
    else if (!isUnset(value)) {
      throw new UnknownFieldError(`${path} has the unknown field number ${number}`);
    }
  }
  return Object.fromEntries(found);
}

function add(found: Map<string, JsonValue>, field: Field, type: ValueType, value: WireValue, path: string): void {
  const { name, keepsZero } = field;
  const present = found.get(name);
  if (type.kind === 'list') {
    const list = (present ?? []) as JsonValue[];
    list.push(decodeValue(value, type.element, path));
    found.set(name, list);
  } else if (type.kind === 'map') {
    const entry = parts(bytesOf(value));
    const element = decodeValue(entry.get(2) ?? { type: 'bytes', bytes: new Uint8Array() }, type.element, path);
    const map = (present ?? {}) as JsonObject;
    // Assignment would set the prototype for the key "__proto__".
    const property = { value: element, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(map, text(entry.get(1)), property);
    found.set(name, map);
  } else {
    const decoded = decodeValue(value, type, path);
    if (keepsZero || (decoded !== 0 && decoded !== false && decoded !== null)) found.set(name, decoded);
  }
}

function decodeValue(value: WireValue, type: ValueType, path: string): JsonValue {
  switch (type.kind) {
    case 'model':
      return message(bytesOf(value), type.name, path);
    case 'string':
      return text(value);
    case 'byte':
      return Buffer.from(bytesOf(value)).toString('base64');
    case 'boolean':
      return varint(value) !== 0;
    case 'number':
      return varint(value);
    case 'quantity':
      return text(parts(bytesOf(value)).get(1));
    case 'intOrString': {
      const found = parts(bytesOf(value));
      return varint(found.get(1)) === 1 ? text(found.get(3)) : varint(found.get(2));
    }
    default:
      // The only time in these messages is creationTimestamp, which the server sets.
      if (bytesOf(value).length === 0 || type.kind === 'time') return null;
      throw new UnknownFieldError(`${path} has an unsupported type`);
  }
}

/** Returns the fields of a small message by number. The last value of each field wins. */
function parts(bytes: Uint8Array): ReadonlyMap<number, WireValue> {
  const found = new Map<number, WireValue>();
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { number, value } = reader.field();
    found.set(number, value);
  }
  return found;
}

function isUnset(value: WireValue): boolean {
  return value.type === 'varint' ? value.value === 0n : value.bytes.every((byte) => byte === 0);
}

function bytesOf(value: WireValue | undefined): Uint8Array {
  if (value === undefined) return new Uint8Array();
  if (value.type !== 'bytes') throw new ProtobufError(`it has a ${value.type} instead of bytes`);
  return value.bytes;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function text(value: WireValue | undefined): string {
  try {
    return utf8.decode(bytesOf(value));
  } catch (error) {
    if (error instanceof ProtobufError) throw error;
    throw new ProtobufError('it has a string that is not UTF-8', { cause: error });
  }
}

/** Returns a number. Negative numbers have ten bytes, in two's complement. */
function varint(value: WireValue | undefined): number {
  if (value === undefined) return 0;
  if (value.type !== 'varint') throw new ProtobufError(`it has a ${value.type} instead of a number`);
  return Number(BigInt.asIntN(64, value.value));
}
