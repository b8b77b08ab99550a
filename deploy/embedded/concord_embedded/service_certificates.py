"""Certificates for TLS between a distributed system's services, and the authority that signs them.

The authority's key stays in the folder where it was made; each service gets its own certificate
and key, and the authority's certificate.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from concord_embedded import secret_files
from concord_embedded.errors import StartError

AUTHORITY = "services-ca"
AUTHORITY_DAYS = 3650
DAYS = 397
RENEW_DAYS = 60
"""A certificate with fewer days left is replaced; with an authority all that it signed are."""
_SKEW = timedelta(hours=1)


def ensure(folder: Path, names: tuple[str, ...]) -> None:
    """Makes `services-ca.crt` and, for each service, `NAME.crt` and `NAME.key`, unless they are
    valid for `RENEW_DAYS` more. Raises `StartError` if one cannot be read.
    """
    authority = _known(folder, AUTHORITY) or _made(folder, AUTHORITY, None, AUTHORITY_DAYS)
    for name in names:
        known = _known(folder, name)
        if known is None or not _is_of(known[0], authority[0]):
            _made(folder, name, authority, DAYS)


Pair = tuple[x509.Certificate, ec.EllipticCurvePrivateKey]


def _known(folder: Path, name: str) -> Pair | None:
    """The certificate and key of a name; None if missing, or valid for less than `RENEW_DAYS`."""
    certificate_file, key_file = folder / f"{name}.crt", folder / f"{name}.key"
    try:
        certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
        key = load_pem_private_key(key_file.read_bytes(), password=None)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        raise StartError(
            f"{certificate_file} and {key_file} are no certificate and its key: delete both, and"
            " the next start makes new ones."
        ) from None
    left = certificate.not_valid_after_utc - datetime.now(UTC)
    if not isinstance(key, ec.EllipticCurvePrivateKey) or left < timedelta(days=RENEW_DAYS):
        return None
    return certificate, key


def _is_of(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _made(folder: Path, name: str, signer: Pair | None, days: int) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"concord {name}")])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer[0].subject if signer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=signer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    )
    certificate = builder.sign(signer[1] if signer else key, hashes.SHA256())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    secret_files.write(folder / f"{name}.key", pem)
    secret_files.write(folder / f"{name}.crt", certificate.public_bytes(Encoding.PEM))
    return certificate, key
