export { UnknownFieldError } from './decode-model.ts';
export { decodeProtobuf } from './decode-protobuf.ts';
export { ProtobufError } from './wire-reader.ts';
