import io.trino.server.Server;
import io.trino.spi.Plugin;
import io.trino.spi.security.AccessDeniedException;
import io.trino.spi.security.BasicPrincipal;
import io.trino.spi.security.PasswordAuthenticator;
import io.trino.spi.security.PasswordAuthenticatorFactory;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Starts a Trino server. As a plugin, accepts the one password of the tests. */
public class TrinoServer implements Plugin, PasswordAuthenticatorFactory, PasswordAuthenticator {
    public static void main(String[] args) {
        new Server().start("435");
    }

    @Override
    public Iterable<PasswordAuthenticatorFactory> getPasswordAuthenticatorFactories() {
        return List.of(this);
    }

    @Override
    public String getName() {
        return "test-password";
    }

    @Override
    public PasswordAuthenticator create(Map<String, String> config) {
        return this;
    }

    @Override
    public Principal createAuthenticatedPrincipal(String user, String password) {
        if (!Objects.equals(System.getenv("ENGINE_PASSWORD"), password)) {
            throw new AccessDeniedException("the password of " + user + " is wrong");
        }
        return new BasicPrincipal(user);
    }
}
