export { UnknownFieldError } from './decode-model.ts';
export { decodeProtobuf } from './decode-protobuf.ts';
export { ProtobufError } from '../../../base/wire-reader.ts';
