import java.nio.charset.StandardCharsets;
import java.util.Objects;
import javax.security.sasl.AuthenticationException;
import org.apache.hive.service.auth.PasswdAuthenticationProvider;

/** Accepts the one password of the tests for Spark's Thrift server. */
public class SparkPasswords implements PasswdAuthenticationProvider {
    @Override
    public void Authenticate(String user, String password) throws AuthenticationException {
        // The server converts each byte of the password to one character.
        byte[] bytes = new byte[password.length()];
        for (int index = 0; index < bytes.length; index++) {
            bytes[index] = (byte) password.charAt(index);
        }
        if (!Objects.equals(System.getenv("ENGINE_PASSWORD"), new String(bytes, StandardCharsets.UTF_8))) {
            throw new AuthenticationException("The password of " + user + " is wrong");
        }
    }
}
