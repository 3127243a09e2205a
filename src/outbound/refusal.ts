/** Why a call brought no answer that can be used: a closed set, made for delivery logs. */
export type RefusalReason =
  /** The URL breaks a rule by its text: not https, credentials, a private name, too long. */
  | 'url_not_allowed'
  /** The host name has no address, or no name server said so in time. */
  | 'dns_failed'
  /** One of the host's addresses is not on the public internet; nothing was dialled. */
  | 'address_not_public'
  /** No connection: refused, unreachable, or broken before TLS began. */
  | 'connection_failed'
  /** No TLS: a certificate that is not trusted, expired or another host's, or a broken handshake. */
  | 'tls_failed'
  /** The connection ended before the answer did. */
  | 'connection_lost'
  /** Not an HTTP/1.1 answer. */
  | 'invalid_response'
  /** More than 16 KB of header. */
  | 'header_too_large'
  /** More body than the call takes. */
  | 'body_too_large'
  /** A compressed body, although none was asked for. */
  | 'encoded_body'
  /** Not all of it within the deadline. */
  | 'timeout'

/** Ends a call with its reason. */
export class Refused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super(reason)
    this.name = 'Refused'
    this.reason = reason
  }
}
