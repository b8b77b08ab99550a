import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.Result;

/**
 * Runs Neo4j in a home directory until it is told to stop: Launcher HOME CONF PASSWORD_FILE.
 *
 * With a fourth argument, "until-input-ends", it also ends, at once, when its standard input does:
 * whoever started it and holds the other end is no more.
 */
public class Launcher {
    public static void main(String[] args) throws Exception {
        if (args.length > 3 && args[3].equals("until-input-ends")) {
            endWithInput();
        }
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

    private static void endWithInput() {
        var watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // what is said there means nothing
                }
            } catch (java.io.IOException broken) {
                // as good as its end
            }
            Runtime.getRuntime().halt(1); // nobody waits for an orderly stop
        });
        watch.setDaemon(true);
        watch.start();
    }
}
