import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.Result;

/** Runs Neo4j in a home directory until it is told to stop: Launcher HOME CONF PASSWORD_FILE. */
public class Launcher {
    public static void main(String[] args) throws Exception {
        var password = Files.readString(Path.of(args[2])).strip();
        var neo4j = new DatabaseManagementServiceBuilder(Path.of(args[0]))
                .loadPropertiesFromFile(Path.of(args[1]))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(neo4j::shutdown));
        // set from inside, where none is asked: the well-known first one opens nothing
        var system = neo4j.database("system");
        var first = "SHOW USERS YIELD user, passwordChangeRequired AS first WHERE first RETURN user";
        if (system.executeTransactionally(first, Map.of(), Result::hasNext)) {
            system.executeTransactionally(
                    "ALTER USER neo4j SET PLAINTEXT PASSWORD $password CHANGE NOT REQUIRED",
                    Map.of("password", password));
        }
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
