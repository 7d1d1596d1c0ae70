/*
 * template_resource.c
 *		Names and ARNs of the resources of a template.
 *
 * The service makes names up when it deploys a template, unless the template gives
 * them.  Here a resource without a name has its logical id for one, and its ARN
 * has the region and the account of the settings: enough to be mapped by name.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cloud/cloud.h"
#include "json/json.h"

/* What Ref gives of a resource */
typedef enum Reference
{
	REF_NAME,
	REF_ARN,
	REF_URL						/* of a queue */
} Reference;

/* Types whose ARN or reference is not as the general rule has it */
typedef struct Kind
{
	const char *type;			/* without "AWS::" */
	const char *service;
	const char *prefix;			/* of the name in the ARN */
	const char *suffix;
	Reference	reference;
} Kind;

static const Kind kinds[] = {
	{"StepFunctions::StateMachine", "states", "stateMachine:", "", REF_ARN},
	{"Serverless::StateMachine", "states", "stateMachine:", "", REF_ARN},
	{"StepFunctions::Activity", "states", "activity:", "", REF_ARN},
	{"Lambda::Function", "lambda", "function:", "", REF_NAME},
	{"Serverless::Function", "lambda", "function:", "", REF_NAME},
	{"SNS::Topic", "sns", "", "", REF_ARN},
	{"SQS::Queue", "sqs", "", "", REF_URL},
	{"DynamoDB::Table", "dynamodb", "table/", "", REF_NAME},
	{"DynamoDB::GlobalTable", "dynamodb", "table/", "", REF_NAME},
	{"Serverless::SimpleTable", "dynamodb", "table/", "", REF_NAME},
	{"Events::EventBus", "events", "event-bus/", "", REF_NAME},
	{"Events::Rule", "events", "rule/", "", REF_NAME},
	{"Scheduler::Schedule", "scheduler", "schedule/default/", "", REF_NAME},
	{"SecretsManager::Secret", "secretsmanager", "secret:", "", REF_ARN},
	{"ECS::TaskDefinition", "ecs", "task-definition/", ":1", REF_ARN},
	{"Batch::JobDefinition", "batch", "job-definition/", ":1", REF_ARN},
	{"Batch::JobQueue", "batch", "job-queue/", "", REF_ARN},
	{"Logs::LogGroup", "logs", "log-group:", ":*", REF_NAME},
	{"EMRServerless::Application", "emr-serverless", "/applications/", "", REF_NAME},
};

/* Tell whether a resource is of a type. */
bool
sf_cloud_is_type(const SfTreeNode *resource, const char *type)
{
	const char *own = sf_tree_member_string(resource, "Type");

	return own != NULL && strcmp(own, type) == 0;
}

/* Tell whether a resource is a state machine. */
bool
sf_cloud_is_machine(const SfTreeNode *resource)
{
	return sf_cloud_is_type(resource, "AWS::StepFunctions::StateMachine") ||
		sf_cloud_is_type(resource, "AWS::Serverless::StateMachine");
}

/* Tell whether a resource is deployed: its condition is true, or it has none. */
bool
sf_cloud_is_there(SfCloud *template, const SfTreeNode *resource)
{
	const SfTreeNode *condition = sf_tree_member(resource, "Condition");

	return condition == NULL || condition->kind != SF_TREE_STRING ||
		sf_cloud_is_true(template, condition->string, condition);
}

/* Find the last word of a type: "Function" of "AWS::Lambda::Function". */
static const char *
last_word(const char *type)
{
	const char *colon = type == NULL ? NULL : strrchr(type, ':');

	return colon == NULL ? "" : colon + 1;
}

/* Find the property that names a resource: Name, or FunctionName of a function. */
static const SfTreeNode *
name_property(const SfTreeNode *resource)
{
	const SfTreeNode *properties = sf_tree_member(resource, "Properties");
	const char *type = sf_tree_member_string(resource, "Type");
	const SfTreeNode *name = sf_tree_member(properties, psprintf("%sName", last_word(type)));

	if (name == NULL && sf_cloud_is_type(resource, "AWS::ECS::TaskDefinition"))
		name = sf_tree_member(properties, "Family");
	if (name == NULL && sf_cloud_is_type(resource, "AWS::Serverless::SimpleTable"))
		name = sf_tree_member(properties, "TableName");
	return name != NULL ? name : sf_tree_member(properties, "Name");
}

/* Find the name of a resource: that which the template gives, or its logical id. */
char *
sf_cloud_name(SfCloud *template, const SfTreeNode *resource)
{
	const SfTreeNode *property = name_property(resource);
	SfTreeNode *value;
	void	   *known;
	char	   *name;

	if (sf_cloud_recall(template, "Resource", resource->key, resource, &known))
		return known;
	value = property == NULL ? NULL : sf_cloud_value(template, property);
	name = value == NULL ? unconstify(char *, resource->key) : sf_cloud_text(template, value);
	sf_cloud_remember(template, "Resource", resource->key, name);
	return name;
}

/* Find what is known of a type; NULL: the general rule holds. */
static const Kind *
kind_of(const SfTreeNode *resource)
{
	const char *type = sf_tree_member_string(resource, "Type");

	if (type == NULL || strncmp(type, "AWS::", 5) != 0)
		return NULL;
	for (size_t i = 0; i < lengthof(kinds); i++)
	{
		if (strcmp(kinds[i].type, type + 5) == 0)
			return &kinds[i];
	}
	return NULL;
}

/* Write a word of a type in lower case, as ARNs have it. */
static char *
lower_case(const char *word)
{
	char	   *lower = pstrdup(word);

	for (char *c = lower; *c != '\0'; c++)
		*c = pg_ascii_tolower((unsigned char) *c);
	return lower;
}

/* Find the region and the account of a resource, as in an ARN. */
static char *
region_and_account(SfCloud *template, const SfTreeNode *resource)
{
	return psprintf("%s:%s", sf_cloud_text(template, sf_cloud_reference(template, resource, "AWS::Region")),
					sf_cloud_text(template, sf_cloud_reference(template, resource, "AWS::AccountId")));
}

/* Find the ARN of the function of a Lambda alias or version. */
static char *
function_arn(SfCloud *template, const SfTreeNode *resource)
{
	const SfTreeNode *function = sf_tree_member(sf_tree_member(resource, "Properties"), "FunctionName");
	char	   *name = function == NULL ? unconstify(char *, resource->key) : sf_cloud_text(template, function);

	return strncmp(name, "arn:", 4) == 0 ? name :
		psprintf("arn:aws:lambda:%s:function:%s", region_and_account(template, resource), name);
}

/* Find the ARN of the machine of a version or an alias of it, with the version or the alias. */
static char *
machine_arn(SfCloud *template, const SfTreeNode *resource)
{
	const SfTreeNode *properties = sf_tree_member(resource, "Properties");
	const SfTreeNode *route = sf_tree_member(properties, "DeploymentPreference");
	const SfTreeNode *version = sf_tree_member(route, "StateMachineVersionArn");
	const SfTreeNode *machine = sf_tree_member(properties, "StateMachineArn");
	SfTreeNode *routes;
	char	   *arn;

	if (machine != NULL)
		return psprintf("%s:1", sf_cloud_text(template, machine));
	routes = sf_cloud_member(template, properties, "RoutingConfiguration");
	if (version == NULL && routes != NULL && routes->kind == SF_TREE_ARRAY && routes->first != NULL)
		version = sf_tree_member(routes->first, "StateMachineVersionArn");
	if (version == NULL)
		return psprintf("arn:aws:states:%s:stateMachine:%s", region_and_account(template, resource), resource->key);
	arn = pstrdup(sf_cloud_text(template, version));
	/* the alias stands where the number of the version stood */
	if (strrchr(arn, ':') != NULL)
		*strrchr(arn, ':') = '\0';
	return psprintf("%s:%s", arn, sf_cloud_name(template, resource));
}

/* Find the ARN of a resource. */
char *
sf_cloud_arn(SfCloud *template, const SfTreeNode *resource)
{
	const Kind *kind = kind_of(resource);
	const char *type = sf_tree_member_string(resource, "Type");
	const char *word = last_word(type);
	char	   *name;
	char	   *service;

	check_stack_depth();
	if (sf_cloud_is_type(resource, "AWS::Lambda::Alias"))
		return psprintf("%s:%s", function_arn(template, resource), sf_cloud_name(template, resource));
	if (sf_cloud_is_type(resource, "AWS::Lambda::Version"))
		return function_arn(template, resource);
	if (sf_cloud_is_type(resource, "AWS::StepFunctions::StateMachineVersion") ||
		sf_cloud_is_type(resource, "AWS::StepFunctions::StateMachineAlias"))
		return machine_arn(template, resource);
	name = sf_cloud_name(template, resource);
	if (strcmp(word, "Bucket") == 0)
		return psprintf("arn:aws:s3:::%s", name);
	if (strcmp(word, "Role") == 0)
		return psprintf("arn:aws:iam::%s:role/%s",
						sf_cloud_text(template, sf_cloud_reference(template, resource, "AWS::AccountId")), name);
	if (kind != NULL)
		return psprintf("arn:aws:%s:%s:%s%s%s", kind->service, region_and_account(template, resource), kind->prefix,
						name,
						kind->suffix);
	if (type == NULL || word - type < 7)
		return NULL;
	service = pnstrdup(type + 5, word - type - 7);
	return psprintf("arn:aws:%s:%s:%s/%s", lower_case(service), region_and_account(template, resource),
					lower_case(word),
					name);
}

/* Find what a reference to a resource gives. */
SfTreeNode *
sf_cloud_resource(SfCloud *template, const SfTreeNode *at, const SfTreeNode *resource)
{
	const Kind *kind = kind_of(resource);
	const char *word = last_word(sf_tree_member_string(resource, "Type"));
	bool		is_arn = kind != NULL ? kind->reference == REF_ARN :
		strstr(word, "Alias") != NULL || strstr(word, "Version") != NULL;
	char	   *arn = is_arn ? sf_cloud_arn(template, resource) : NULL;

	if (kind != NULL && kind->reference == REF_URL)
		return sf_cloud_string(at, psprintf("https://sqs.%s.amazonaws.com/%s/%s",
											sf_cloud_text(template, sf_cloud_reference(template, at, "AWS::Region")),
											sf_cloud_text(template, sf_cloud_reference(template, at, "AWS::AccountId")),
											sf_cloud_name(template, resource)));
	if (is_arn)
		return arn != NULL ? sf_cloud_string(at, arn) : sf_cloud_unknown(template, at, resource->key);
	return sf_cloud_string(at, sf_cloud_name(template, resource));
}

/* Tell whether a text ends in a word. */
static bool
ends_in(const char *text, const char *word)
{
	size_t		n = strlen(text);
	size_t		m = strlen(word);

	return n >= m && strcmp(text + n - m, word) == 0;
}

/*
 * Find an attribute of a resource: Fn::GetAtt.  A value that is given for the
 * resource itself holds for its ARN, too.
 */
SfTreeNode *
sf_cloud_attribute(SfCloud *template, const SfTreeNode *at, const char *id, const char *attribute)
{
	char	   *name = psprintf("%s.%s", id, attribute);
	const SfTreeNode *resource = sf_tree_member(sf_tree_member(template->root, "Resources"), id);
	const char *type = sf_tree_member_string(resource, "Type");
	char	   *arn;

	if (template->given != NULL && sf_json_get(template->given, name) != NULL)
		return sf_cloud_reference(template, at, name);
	if (template->given != NULL && strcmp(attribute, "Arn") == 0 && sf_json_get(template->given, id) != NULL)
		return sf_cloud_reference(template, at, id);
	if (resource == NULL || type == NULL || strncmp(type, "AWS::", 5) != 0 ||
		strncmp(type, "AWS::CloudFormation::", strlen("AWS::CloudFormation::")) == 0)
		return sf_cloud_unknown(template, at, name);
	if (strcmp(attribute, "QueueUrl") == 0)
		return sf_cloud_resource(template, at, resource);
	if (strcmp(attribute, "Name") == 0 || strcmp(attribute, psprintf("%sName", last_word(type))) == 0)
		return sf_cloud_string(at, sf_cloud_name(template, resource));
	if (strcmp(attribute, "Arn") == 0 || (ends_in(attribute, "Arn") && strncmp(attribute, last_word(type),
																			   strlen(attribute) - 3) == 0))
	{
		arn = sf_cloud_arn(template, resource);
		if (arn != NULL)
			return sf_cloud_string(at, arn);
	}
	return sf_cloud_unknown(template, at, name);
}
