//! The address of the broker, and its password.
//!
//! A1: no message shows a password, because [`Address`] displays only host, port and database, and has no debug output of
//! the rest.

use std::fmt;
use std::str::FromStr;

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo};

/// A password.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A password, as a file or a variable has it: line breaks at the end do not belong to it.
    pub fn new(text: &str) -> Self {
        Secret(text.trim_end_matches(['\n', '\r']).to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The address of a broker, with the account for it.
#[derive(Clone)]
pub struct Address {
    info: ConnectionInfo,
    /// What people may see.
    shown: String,
}

/// Why a text is not an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressError(String);

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for AddressError {}

impl Address {
    /// The same address with another password.
    pub fn with_password(self, password: &Secret) -> Self {
        let settings = self.info.redis_settings().clone().set_password(&password.0);
        Address { info: self.info.set_redis_settings(settings), shown: self.shown }
    }

    /// Whether the address itself has a password.
    pub fn has_password(&self) -> bool {
        self.info.redis_settings().password().is_some()
    }

    pub(crate) fn info(&self) -> ConnectionInfo {
        self.info.clone()
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let error = |message: &str| Err(AddressError(message.to_owned()));
        if text.starts_with("rediss:") || text.starts_with("valkeys:") {
            return error("there is no encryption here: use a tunnel, and redis:// to its end");
        }
        if !["redis://", "valkey://", "unix://", "redis+unix://"].iter().any(|start| text.starts_with(start))
        {
            return error("an address is needed, as in redis://host:6379");
        }
        // The library's own message might repeat the password.
        let Ok(info) = text.into_connection_info() else {
            return error("this is not an address as redis://user@host:6379/0");
        };
        // `CLIENT SETINFO` would need another right, and only tells the server the name of the library.
        let settings = info.redis_settings().clone().set_skip_set_lib_name();
        let place = match info.addr() {
            ConnectionAddr::Tcp(host, port) => format!("{host}:{port}"),
            ConnectionAddr::Unix(path) => path.display().to_string(),
            _ => return error("there are addresses redis://host:6379 and unix:///path"),
        };
        let shown = if settings.db() == 0 { place } else { format!("{place}/{}", settings.db()) };
        Ok(Address { info: info.set_redis_settings(settings), shown })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_show_no_passwords() {
        let address: Address = "redis://me:secret@host:7000/2".parse().unwrap();
        assert_eq!(format!("{address} {address:?}"), "host:7000/2 Address(host:7000/2)");
        assert!(address.has_password());
        assert_eq!(address.info().redis_settings().username(), Some("me"));
        let plain: Address = "redis://host".parse().unwrap();
        assert!(!plain.has_password() && plain.to_string() == "host:6379");
        let password = Secret::new("other\r\n");
        let with = plain.with_password(&password);
        assert_eq!(with.info().redis_settings().password(), Some("other"));
        assert_eq!(format!("{with:?} {password:?}"), "Address(host:6379) Secret");
    }

    #[test]
    fn wrong_addresses_have_messages_without_passwords() {
        for text in
            ["redis://:secret@host:port", "rediss://:secret@host", "host:6379", "http://secret@host", ""]
        {
            let error = text.parse::<Address>().expect_err("it is wrong").to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
