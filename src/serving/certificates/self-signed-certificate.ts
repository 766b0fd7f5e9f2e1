import { Buffer } from 'node:buffer';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { Integer, OctetString, Utf8String } from 'asn1js';
import {
  AttributeTypeAndValue,
  BasicConstraints,
  Certificate,
  CryptoEngine,
  ExtKeyUsage,
  Extension,
  GeneralName,
  GeneralNames,
} from 'pkijs';
import type { ServingCertificate } from './serving-certificate.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
const oids = {
  commonName: '2.5.4.3',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuthentication: '1.3.6.1.5.5.7.3.1',
};
const dnsName = 2;
const ipAddress = 7;
/** Margin for clocks that differ. */
const backdatedMs = 3_600_000;
const yearMs = 365 * 24 * 3_600_000;

/**
 * Generates a self-signed certificate for `names` (host names and IP addresses), valid for `years` from `now` (milliseconds since
 * the epoch). It uses an elliptic curve: that takes milliseconds, while an RSA key takes a tenth of a second or more.
 */
export async function makeSelfSignedCertificate(
  names: readonly string[],
  now: number,
  years: number,
): Promise<ServingCertificate> {
  // Passed to each step: otherwise pkijs would set up an engine for the whole process.
  const engine = new CryptoEngine({
    name: 'node',
    crypto: webcrypto,
  });
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = new Certificate();
  certificate.version = 2; // counts from zero: version 3
  certificate.serialNumber = new Integer({ valueHex: arrayBuffer(serialNumber()) });
  // Unique, so that clients which stored an older certificate of this kind do not confuse the two.
  const commonName = `${names[0] ?? 'localhost'}@${Math.floor(now / 1_000)}`;
  for (const name of [certificate.issuer, certificate.subject]) {
    const value = new Utf8String({ value: commonName });
    name.typesAndValues.push(new AttributeTypeAndValue({ type: oids.commonName, value }));
  }
  certificate.notBefore.value = new Date(now - backdatedMs);
  certificate.notAfter.value = new Date(now + years * yearMs);
  const alternatives = new GeneralNames({ names: names.map(generalName) });
  const usage = new ExtKeyUsage({ keyPurposes: [oids.serverAuthentication] });
  certificate.extensions = [
    extension(oids.basicConstraints, true, new BasicConstraints({ cA: false }).toSchema().toBER(false)),
    extension(oids.extendedKeyUsage, false, usage.toSchema().toBER(false)),
    extension(oids.subjectAltName, false, alternatives.toSchema().toBER(false)),
  ];
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey, engine);
  await certificate.sign(keys.privateKey, 'SHA-256', engine);
  return {
    certificates: pem('CERTIFICATE', certificate.toSchema().toBER(false)),
    key: pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
  };
}

/** Returns a positive serial number without a leading zero. */
function serialNumber(): Uint8Array {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return bytes;
}

function generalName(name: string): GeneralName {
  const version = isIP(name);
  if (version === 0) return new GeneralName({ type: dnsName, value: name });
  const valueHex = arrayBuffer(version === 4 ? ipv4Bytes(name) : ipv6Bytes(name));
  return new GeneralName({ type: ipAddress, value: new OctetString({ valueHex }) });
}

function ipv4Bytes(address: string): Uint8Array {
  return Uint8Array.from(address.split('.').map(Number));
}

function ipv6Bytes(address: string): Uint8Array {
  // URL normalizes the address: no IPv4 part and no leading zeros.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [first, last] = [groups(head), groups(tail ?? '')];
  const all = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last];
  return Uint8Array.from(all.flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]));
}

function extension(extnID: string, critical: boolean, extnValue: ArrayBuffer): Extension {
  return new Extension({ extnID, critical, extnValue });
}

function arrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function pem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
